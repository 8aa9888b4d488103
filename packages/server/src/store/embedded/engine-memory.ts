/**
 * Keeps the engine's process within its memory. Results that nobody needs any more are collected, free memory, which counts
 * against the engine's limit, is returned to the system, and a process that has no memory left for statements is replaced.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { StoreError } from "../store-error.ts";

/** The engine's limit for all statements, not that of one. */
const isEngineFull = /\(total\) memory limit exceeded|memory limit \(total\) exceeded/i;

export function lacksEngineMemory(error: unknown): error is StoreError {
  return error instanceof StoreError && isEngineFull.test(error.message);
}

/** Results that have been sent and may not have been collected: the heap of JavaScript grows too little to be collected itself. */
const mostResultBytes = 33_554_432;
/** A process that holds this part of its memory, beyond what it began with, after it was freed and a statement got none. */
const exhaustedShare = 0.7;
/** Statements that were running when memory ran out may return theirs within this time. */
const graceMs = 1_000;

export interface EngineMemoryOptions {
  readonly limitBytes: number;
  /** Returns the engine's free memory to the system. */
  purge(): Promise<unknown>;
  /** @throws StoreError if the engine cannot run even the smallest statement */
  probe(): Promise<unknown>;
  /** Called when only a new process can answer. */
  exhausted(): void;
}

export class EngineMemory {
  readonly #options: EngineMemoryOptions;
  readonly #collect: () => void;
  readonly #startBytes = process.memoryUsage.rss();
  #sentBytes = 0;
  #freeing: Promise<void> | undefined;
  #isDoubtful = false;

  constructor(options: EngineMemoryOptions) {
    this.#options = options;
    setFlagsFromString("--expose-gc");
    this.#collect = runInNewContext("gc") as () => void;
  }

  /** A result has been sent; nothing refers to it from the next turn of the event loop on. */
  sent(bytes: number): void {
    this.#sentBytes += bytes;
    if (this.#sentBytes >= mostResultBytes) void this.free();
  }

  /** A statement failed. */
  failed(error: unknown): void {
    if (this.#isDoubtful || !lacksEngineMemory(error)) return;
    this.#isDoubtful = true;
    setTimeout(() => void this.#check(), graceMs).unref();
  }

  async #check(): Promise<void> {
    await this.free();
    this.#isDoubtful = false;
    const { exhausted, limitBytes } = this.#options;
    const usedBytes = process.memoryUsage.rss() - this.#startBytes;
    if (usedBytes > limitBytes * exhaustedShare || !(await this.#canAnswer())) exhausted();
  }

  async #canAnswer(): Promise<boolean> {
    try {
      await this.#options.probe();
      return true;
    } catch (error) {
      return !lacksEngineMemory(error);
    }
  }

  /** Collects results that nobody needs any more, and returns free memory to the system. */
  free(): Promise<void> {
    this.#freeing ??= this.#collectAndPurge().finally(() => {
      this.#freeing = undefined;
    });
    return this.#freeing;
  }

  async #collectAndPurge(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#sentBytes = 0;
    this.#collect();
    // The buffers are freed in a turn after the collection.
    await new Promise((resolve) => setImmediate(resolve));
    await this.#options.purge().catch(() => {});
  }
}
