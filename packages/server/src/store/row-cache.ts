/**
 * Caches rows by identity, because nearly every response looks up the same few hashes. Each organization sees only
 * its own rows. The cache is bounded and evicts the least recently used rows.
 */

/** One organization's view of the cache. */
export interface RowCache {
  get(identity: string): object | undefined;
  /** @param bytes approximate memory of the row */
  set(identity: string, row: object, bytes: number): void;
}

interface Entry {
  readonly row: object;
  readonly bytes: number;
}

/** The memory of an entry in addition to its row. */
const overheadBytes = 300;

export class RowCaches {
  readonly #entries = new Map<string, Entry>();
  readonly #maximumBytes: number;
  #bytes = 0;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  of(organizationId: string): RowCache {
    return {
      get: (identity) => this.#get(`${organizationId} ${identity}`),
      set: (identity, row, bytes) => this.#set(`${organizationId} ${identity}`, { row, bytes: bytes + overheadBytes }),
    };
  }

  #get(key: string): object | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    // Deleting and inserting it again makes it the most recently used.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.row;
  }

  #set(key: string, entry: Entry): void {
    this.#remove(key);
    // One large entry would evict nearly all others.
    if (entry.bytes > this.#maximumBytes / 2) return;
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maximumBytes) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
