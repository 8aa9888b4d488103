/**
 * Decodes utterances in recognizer processes. Organizations, then calls, take turns by how much audio was decoded for
 * them, so an hour of one does not delay ten seconds of another.
 */
import { ProcessPool } from "../../child-process/process-pool.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Installation } from "./installation.ts";
import { countUsage, DecodingUsage, UsageQueue, type CallUsage } from "./decoding-usage.ts";
import { startRecognizer, type RecognizerProcess } from "./recognizer-process.ts";
import type { UtteranceJob } from "./utterance-job.ts";

export interface PoolOptions {
  /** Most processes. */
  readonly processes: number;
  readonly idleUnloadMs: number;
  /** @throws AppError if PocketSphinx is not installed */
  readonly installation: () => Installation;
  readonly logger: Logger;
}

/** Longest decoding time of an utterance. */
const longestMs = 120_000;

export class RecognizerPool {
  readonly #usages = new DecodingUsage();
  readonly #pool: ProcessPool<RecognizerProcess>;

  constructor({ processes, idleUnloadMs, installation, logger }: PoolOptions) {
    this.#pool = new ProcessPool({
      most: processes,
      what: "The recognizer",
      logger,
      messages: {
        failed: "a recognizer process failed",
        notStarted: "a recognizer process did not start",
        idle: "a recognizer process was stopped after being idle",
      },
      start: (signal) => startRecognizer(installation(), signal),
      queue: new UsageQueue(this.#usages),
      failure: (cause) =>
        cause instanceof AppError
          ? cause
          : new AppError("upstream_failed", "The recognizer failed to transcribe this recording.", { cause }),
      // No `graceMs`: the decoder cannot abort an utterance, and finishing it would cost more than a new process.
      longestWorkMs: longestMs,
      idleMs: idleUnloadMs,
      longestPauseAfterCrashMs: 0,
    });
  }

  /** Opens a call's usage account until it is disposed. Late callers get no compensation for earlier usage of others. */
  open(group = ""): CallUsage & Disposable {
    return this.#usages.open(group);
  }

  /** Decodes an utterance; when the signal aborts, that is its failure. */
  decode({ usage, audio, signal, onRecognized, onFailure }: UtteranceJob): void {
    this.#pool
      .run({ first: false, group: usage.id, signal }, (process) => {
        countUsage(usage, audio.length);
        return process.decode(audio);
      })
      .then(onRecognized, onFailure);
  }

  /** Starts one process before it is needed. */
  preload(): void {
    this.#pool.preload();
  }

  /** Whether a process is ready. */
  get isLoaded(): boolean {
    return this.#pool.isLoaded;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
