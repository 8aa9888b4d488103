/**
 * Keeps the engine's process within its memory. The engine counts the whole process against its limit, also what it does not
 * manage: results that nobody needs any more, and what the library leaks when statements fail. So results are collected, free
 * memory is returned to the system, and a process that has no memory left for statements is replaced.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { StoreError } from "../store-error.ts";

/** Results that have been sent and may not have been collected: the heap of JavaScript grows too little to be collected itself. */
const mostResultBytes = 33_554_432;
/** https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp: MEMORY_LIMIT_EXCEEDED */
const memoryLimitExceeded = 241;
/** A process that holds this part of its memory after it was freed, and had none for a statement, is exhausted. */
const exhaustedShare = 0.7;
/** Statements that were running when memory ran out may return theirs within this time. */
const graceMs = 1_000;

export interface EngineMemoryOptions {
  readonly limitBytes: number;
  /** Returns the engine's free memory to the system. */
  purge(): Promise<unknown>;
  /** Called when only a new process can answer. */
  exhausted(): void;
}

export class EngineMemory {
  readonly #options: EngineMemoryOptions;
  readonly #collect: () => void;
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
    if (this.#sentBytes >= mostResultBytes) void this.#free();
  }

  /** A statement failed. */
  failed(error: unknown): void {
    if (this.#isDoubtful || !(error instanceof StoreError) || error.code !== memoryLimitExceeded) return;
    this.#isDoubtful = true;
    setTimeout(() => void this.#check(), graceMs).unref();
  }

  async #check(): Promise<void> {
    await this.#free();
    this.#isDoubtful = false;
    const { exhausted, limitBytes } = this.#options;
    if (process.memoryUsage.rss() > limitBytes * exhaustedShare) exhausted();
  }

  #free(): Promise<void> {
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
