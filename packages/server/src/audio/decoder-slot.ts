/** The interfaces between `decoder-pool.ts`, which owns the worker threads, and `decoding.ts`, which decodes one recording. */
import type { WorkerEnd } from "../child-process/watched-worker.ts";
import type { FromDecoder, ToDecoder } from "./decoder-protocol.ts";

/** A recording, as its worker and the pool see it. */
export interface DecodedRecording {
  readonly owner: string;
  /** How often it lost its worker to others. */
  readonly evictions: number;
  readonly canBeEvicted: boolean;
  /** CPU time that its progress justifies, in ms. */
  earnedMs(): number;
  /** Since when the worker has been waiting for bytes, or for a reader of its samples; undefined while it works. */
  waitingSinceMs(): number | undefined;
  onMessage(message: FromDecoder): void;
  /** The worker exited, or was terminated for a limit. */
  onEnd(end: WorkerEnd): void;
  /** Others need the worker: the recording must release it now, and may queue for another one. */
  evict(): void;
}

/** A worker that a recording has to itself. */
export interface DecoderSlot {
  post(message: ToDecoder, transfer?: ArrayBuffer[]): void;
  /** Gives the worker back when it has sent everything. */
  finish(): void;
  /** Terminates the worker, because the state of an interrupted decoder is unknown. */
  leave(): void;
}

export interface DecoderSlots {
  /** Waits for a worker. @throws AppError `overloaded`; the signal's reason */
  take(recording: DecodedRecording, signal: AbortSignal): Promise<DecoderSlot>;
}
