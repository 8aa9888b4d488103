/**
 * Runs tenants' queries in the embedded engine, each with a part of its memory. Most need little, so a statement first gets
 * little, and if that was not enough, as much as its organization may hold. Nothing of a failed attempt has been sent.
 */
import { StoreError } from "../store-error.ts";
import type { Engine } from "./engine.ts";
import { lacksEngineMemory } from "./engine-memory.ts";
import { ReadMemory } from "./read-memory.ts";

export interface TenantRead {
  readonly text: string;
  readonly settings: ReadonlyMap<string, string>;
  readonly format: string;
  readonly organizationId: string;
}

export interface ReadResult {
  readonly bytes: Uint8Array;
  /** The result is no longer needed. */
  release(): void;
}

/** The engine's limits of one statement, which more memory may meet. */
const needsMore = /[Mm]emory limit \(for query\)|Query memory limit exceeded|Limit for result exceeded, max bytes/;
/** Results are not part of what the engine counts for a statement. */
const resultShare = 1 / 2;
const longestWaitSeconds = 60;

function needsMoreMemory(error: unknown): boolean {
  return error instanceof StoreError && needsMore.test(error.message);
}

export interface TenantReadsOptions {
  readonly engine: Engine;
  readonly memoryBytes: number;
  /** Returns the engine's free memory to the system. */
  free(): Promise<void>;
}

export class TenantReads {
  readonly #options: TenantReadsOptions;
  readonly #memory: ReadMemory;

  constructor(options: TenantReadsOptions) {
    this.#options = options;
    this.#memory = new ReadMemory(options.memoryBytes);
  }

  /** @throws StoreError */
  async run(read: TenantRead, signal: AbortSignal): Promise<ReadResult> {
    const { smallBytes } = this.#memory;
    try {
      return await this.#attemptTwice(read, smallBytes, signal);
    } catch (error) {
      const most = this.#memory.shareOf(read.organizationId);
      if (!needsMoreMemory(error) || most <= smallBytes) throw error;
      return await this.#attemptTwice(read, most, signal);
    }
  }

  async #attemptTwice(read: TenantRead, bytes: number, signal: AbortSignal): Promise<ReadResult> {
    try {
      return await this.#attempt(read, bytes, signal);
    } catch (error) {
      if (!lacksEngineMemory(error)) throw error;
      // What was freed counts against the engine's limit until the allocator returns it.
      await this.#options.free();
      return await this.#attempt(read, bytes, signal);
    }
  }

  async #attempt(read: TenantRead, bytes: number, signal: AbortSignal): Promise<ReadResult> {
    const { format, organizationId, settings, text } = read;
    const grant = await this.#take(read, bytes, signal);
    try {
      const limits = new Map([
        ...settings,
        ["max_memory_usage", String(bytes)],
        ["max_result_bytes", String(Math.min(Number(settings.get("max_result_bytes") ?? bytes), bytes * resultShare))],
      ]);
      const result = await this.#options.engine.run({ text, settings: limits, format, lane: "read" }, signal);
      grant.shrink(result.length);
      return { bytes: result, release: () => grant.release() };
    } catch (error) {
      grant.release();
      const isShort = bytes < this.#memory.mostBytes && bytes > this.#memory.smallBytes;
      if (!isShort || !needsMoreMemory(error)) throw error;
      // With the other organizations' memory it may succeed.
      throw new StoreError(`The memory that others leave to ${organizationId} is too little.`, { code: 202 });
    }
  }

  async #take({ organizationId, settings }: TenantRead, bytes: number, signal: AbortSignal) {
    const waitSeconds = Number(settings.get("max_execution_time") ?? longestWaitSeconds);
    const wait = AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1000)]);
    try {
      return await this.#memory.take(organizationId, bytes, wait);
    } catch (error) {
      throw new StoreError("Other queries used the memory for too long.", { code: 202, cause: error });
    }
  }
}
