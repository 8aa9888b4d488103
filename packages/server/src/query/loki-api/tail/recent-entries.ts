/** The entries that a tail has found lately, since it reads the last seconds again and again for entries that arrive late. */
import { hash } from "node:crypto";
import type { TailEntry } from "./tail-message.ts";

/** Characters of a hash that identify an entry among some ten thousand. */
const identityLength = 14;

export class RecentEntries {
  readonly #times = new Map<string, bigint>();

  /** Entries that were not found before. Those that are equal in all parts count as one, as in Loki. */
  takeNew(entries: readonly TailEntry[]): TailEntry[] {
    return entries.filter((entry) => {
      const { labels, line, parsed, structuredMetadata, unixNano } = entry;
      const parts = [unixNano, labels.key, structuredMetadata.key, parsed.key, line];
      const identity = hash("sha1", parts.join("\0\0"), "base64url").slice(0, identityLength);
      if (this.#times.has(identity)) return false;
      this.#times.set(identity, unixNano);
      return true;
    });
  }

  /** Forgets entries before a time, which are not read again. */
  forgetBefore(unixNano: bigint): void {
    for (const [identity, time] of this.#times) if (time < unixNano) this.#times.delete(identity);
  }
}
