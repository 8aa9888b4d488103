/** A storage in memory. */
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { labelsFrom, getLabel, type Labels } from "@sounding/promql/series/labels";
import { matchesAll } from "@sounding/promql/series/matcher";
import type { EntriesRequest, EntryBatch, LogqlStorage } from "./storage.ts";

export interface MemoryEntry {
  readonly unixNano: bigint;
  readonly line: string;
  /** Name, value, name, value …. */
  readonly structuredMetadata?: readonly string[];
}

interface StoredEntry {
  readonly unixNano: bigint;
  readonly line: string;
  readonly structuredMetadata: readonly string[];
  readonly stream: Labels;
  /** The order of arrival, for entries of the same time. */
  readonly order: number;
}

/** What a batch of the answer has at most. */
const entriesPerBatch = 100;

export class MemoryLogStorage implements LogqlStorage {
  /** The requests that it got. */
  readonly asked: EntriesRequest[] = [];
  /** The entries that it gave out. */
  entriesRead = 0;
  readonly #entries: StoredEntry[] = [];
  #isSorted = true;

  add(labels: Readonly<Record<string, string>>, entries: readonly MemoryEntry[]): this {
    const stream = labelsFrom(Object.entries(labels));
    for (const { line, structuredMetadata = [], unixNano } of entries) {
      this.#entries.push({ unixNano, line, structuredMetadata, stream, order: this.#entries.length });
    }
    this.#isSorted = false;
    return this;
  }

  clear(): void {
    this.#entries.length = 0;
  }

  async *entries(request: EntriesRequest): AsyncGenerator<EntryBatch> {
    this.asked.push(request);
    const found = this.matching(request);
    if (request.direction === "backward") found.reverse();
    for (let start = 0; start < found.length; start += entriesPerBatch) {
      request.signal.throwIfAborted();
      const batch = found.slice(start, start + entriesPerBatch);
      request.charge(batch.reduce((bytes, { line }) => bytes + 2 * line.length, 0));
      this.entriesRead += batch.length;
      yield await Promise.resolve(toBatch(batch, request));
    }
  }

  /** The entries of the request's streams and time, oldest first. */
  protected matching({
    fromUnixNano,
    matchers,
    toUnixNano,
  }: Pick<EntriesRequest, "fromUnixNano" | "matchers" | "toUnixNano">): StoredEntry[] {
    this.#sort();
    const known = new Map<Labels, boolean>();
    return this.#entries.filter(({ stream, unixNano }) => {
      if (unixNano < fromUnixNano || unixNano >= toUnixNano) return false;
      let matches = known.get(stream);
      if (matches === undefined) {
        matches = matchesAll(matchers, (name) => getLabel(stream, name), neverYield) === true;
        known.set(stream, matches);
      }
      return matches;
    });
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#entries.sort((left, right) =>
      left.unixNano === right.unixNano ? left.order - right.order : left.unixNano < right.unixNano ? -1 : 1,
    );
    this.#isSorted = true;
  }
}

function toBatch(entries: readonly StoredEntry[], { needs }: EntriesRequest): EntryBatch {
  const streams = [...new Set(entries.map(({ stream }) => stream))];
  const indexes = new Map(streams.map((stream, index) => [stream, index]));
  const wanted = needs.structuredMetadata;
  return {
    count: entries.length,
    unixNanos: BigInt64Array.from(entries, ({ unixNano }) => unixNano),
    lines: entries.map(({ line }) => (needs.line ? line : "")),
    lineBytes: Uint32Array.from(entries, ({ line }) => Buffer.byteLength(line)),
    streamIndexes: Uint32Array.from(entries, ({ stream }) => indexes.get(stream)!),
    streams,
    structuredMetadata: entries.map(({ structuredMetadata }) =>
      wanted === "all"
        ? structuredMetadata
        : structuredMetadata.filter((_, index) => wanted.includes(structuredMetadata[index - (index % 2)]!)),
    ),
  };
}
