/**
 * Rows that never change, kept in memory by what identifies them: nearly every answer asks again what the same few hashes
 * stand for. Each organization sees its own alone. Bounded; what was not asked for longest goes first.
 */

/** One organization's part. */
export interface RowCache {
  get(identity: string): object | undefined;
  /** @param bytes about what the row takes */
  set(identity: string, row: object, bytes: number): void;
}

interface Entry {
  readonly row: object;
  readonly bytes: number;
}

/** What an entry takes beside its row. */
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
    // Put in again, it stands behind all the others.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.row;
  }

  #set(key: string, entry: Entry): void {
    this.#remove(key);
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
