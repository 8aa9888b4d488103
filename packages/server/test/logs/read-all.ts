/** Reads all entries of a request, as a test compares them. */
import type { EntriesRequest, LogqlStorage } from "@sounding/logql/storage";
import { entriesOf } from "@sounding/promql/series/labels";
import { neverYield } from "@sounding/promql/regex/yield-budget";

export interface ReadEntry {
  readonly unixNano: bigint;
  readonly line: string;
  readonly lineBytes: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
}

type Range = Pick<EntriesRequest, "fromUnixNano" | "toUnixNano">;

export function requestOf(range: Range, changes: Partial<EntriesRequest> = {}): EntriesRequest {
  return {
    matchers: [],
    lineFilters: [],
    metadataMatchers: [],
    direction: "forward",
    expectedEntries: undefined,
    needs: { line: true, structuredMetadata: "all" },
    signal: new AbortController().signal,
    yieldBudget: neverYield,
    charge: () => {},
    ...range,
    ...changes,
  };
}

export async function readAll(storage: LogqlStorage, request: EntriesRequest): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = [];
  for await (const batch of storage.entries(request)) {
    for (let row = 0; row < batch.count; row += 1) {
      entries.push({
        unixNano: batch.unixNanos[row]!,
        line: batch.lines[row]!,
        lineBytes: batch.lineBytes[row]!,
        labels: Object.fromEntries(entriesOf(batch.streams[batch.streamIndexes[row]!]!)),
        metadata: Object.fromEntries(pairsOf(batch.structuredMetadata[row]!)),
      });
    }
  }
  return entries;
}

function* pairsOf(list: readonly string[]): Generator<[string, string]> {
  for (let index = 0; index < list.length; index += 2) yield [list[index]!, list[index + 1]!];
}
