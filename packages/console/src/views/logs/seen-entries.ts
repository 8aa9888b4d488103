/** Which recent entries a live tail has read, by time, so that it recognizes new ones and notices late ones. */
import type { LogEntry } from "./log-entry.ts";

export const bucketMs = 5_000;

export class SeenEntries {
  readonly #buckets = new Map<number, Set<string>>();

  /** The entries that are new, which are seen from now on. */
  add(entries: readonly LogEntry[]): LogEntry[] {
    return entries.filter(({ id, ms }) => {
      const begin = Math.floor(ms / bucketMs) * bucketMs;
      let bucket = this.#buckets.get(begin);
      if (bucket === undefined) this.#buckets.set(begin, (bucket = new Set()));
      const before = bucket.size;
      return bucket.add(id).size > before;
    });
  }

  countAt(beginMs: number): number {
    return this.#buckets.get(beginMs)?.size ?? 0;
  }

  forgetBefore(ms: number): void {
    for (const begin of this.#buckets.keys()) if (begin + bucketMs <= ms) this.#buckets.delete(begin);
  }
}
