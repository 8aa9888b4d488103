/** A batch whose sender waits until its rows are durable. */
import type { Batch } from "./store.ts";

export interface WaitingBatch {
  readonly batch: Batch;
  /** When the sender gets an error that asks it to retry, on the clock of `performance.now()`. */
  readonly deadlineMs: number;
  /** The sender has been answered; only the memory remains to be released. */
  settled: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** The memory of a batch in addition to its bytes. */
const batchOverheadBytes = 512;

export function sizeOf({ block }: Batch): number {
  return block.length + batchOverheadBytes;
}

/** Answers the sender, unless it has been answered. */
export function settle(waiting: WaitingBatch, error?: Error): void {
  if (waiting.settled) return;
  waiting.settled = true;
  if (error === undefined) waiting.resolve();
  else waiting.reject(error);
}
