/** Log queries: which entries, in which order, under which labels, and when the reading ends. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { queryLogqlRange, type LogqlRangeQuery } from "../src/engine.ts";
import type { LogStream } from "../src/query-result.ts";
import { printLabels } from "@sounding/promql/series/labels";
import { MemoryLogStorage } from "../src/memory-storage.ts";

const second = 1_000_000_000n;

/** Ten entries of two streams, one a second from second 1 on. */
function tenEntries(): MemoryLogStorage {
  const storage = new MemoryLogStorage();
  for (let index = 1n; index <= 10n; index++) {
    const app = index % 2n === 0n ? "even" : "odd";
    const entry = {
      unixNano: index * second,
      line: `{"n":${index}}`,
      structuredMetadata: ["trace_id", `t${index % 3n}`],
    };
    storage.add({ app }, [entry]);
  }
  return storage;
}

async function select(
  storage: MemoryLogStorage,
  query: string,
  options: Partial<LogqlRangeQuery> = {},
): Promise<readonly LogStream[]> {
  const times = { startUnixNano: 0n, endUnixNano: 100n * second, stepMs: 1000 };
  const { value } = await queryLogqlRange(storage, { ...times, ...options, query });
  assert.ok(value.type === "streams");
  return value.streams;
}

/** Each stream as its labels and the seconds of its entries. */
function shown(streams: readonly LogStream[]): readonly (readonly [string, readonly number[]])[] {
  return streams.map(({ entries, labels }) => [
    printLabels(labels),
    entries.map(({ unixNano }) => Number(unixNano / second)),
  ]);
}

describe("log queries", () => {
  test("return entries from the start on and before the end", async () => {
    const times = { startUnixNano: 2n * second, endUnixNano: 5n * second, direction: "forward" } as const;
    assert.deepEqual(shown(await select(tenEntries(), '{app=~".+"} | drop trace_id', times)), [
      ['{app="even"}', [2, 4]],
      ['{app="odd"}', [3]],
    ]);
  });

  test("return the newest entries first, up to the limit of all streams together", async () => {
    assert.deepEqual(shown(await select(tenEntries(), '{app=~".+"} | drop trace_id', { limit: 3 })), [
      ['{app="even"}', [10, 8]],
      ['{app="odd"}', [9]],
    ]);
    assert.deepEqual(
      shown(await select(tenEntries(), '{app="odd"} | drop trace_id', { limit: 2, direction: "forward" })),
      [['{app="odd"}', [1, 3]]],
    );
    assert.deepEqual(await select(tenEntries(), '{app="odd"}', { limit: 0 }), []);
  });

  test("group entries by all labels, or by the store's labels if labels are categorized", async () => {
    const query = '{app="odd"} | json | n < 6';
    assert.deepEqual(shown(await select(tenEntries(), query, { direction: "forward" })), [
      ['{app="odd", n="1", trace_id="t1"}', [1]],
      ['{app="odd", n="3", trace_id="t0"}', [3]],
      ['{app="odd", n="5", trace_id="t2"}', [5]],
    ]);
    const [stream, ...others] = await select(tenEntries(), query, { direction: "forward", categorizesLabels: true });
    assert.deepEqual(others, []);
    assert.equal(printLabels(stream!.labels), '{app="odd"}');
    assert.deepEqual(
      stream!.entries.map(({ parsed, structuredMetadata }) => [printLabels(structuredMetadata), printLabels(parsed)]),
      [
        ['{trace_id="t1"}', '{n="1"}'],
        ['{trace_id="t0"}', '{n="3"}'],
        ['{trace_id="t2"}', '{n="5"}'],
      ],
    );
  });

  test("keep the interval between entries, in both directions", async () => {
    const query = '{app=~".+"} | keep nothing';
    assert.deepEqual(shown(await select(tenEntries(), query, { intervalMs: 3000, direction: "forward" })), [
      ["{}", [1, 4, 7, 10]],
    ]);
    assert.deepEqual(shown(await select(tenEntries(), query, { intervalMs: 4000 })), [["{}", [10, 6, 2]]]);
  });

  test("stop reading at the limit, and tell the store how many entries they need", async () => {
    const storage = new MemoryLogStorage();
    const entries = Array.from({ length: 5000 }, (_, index) => ({ unixNano: BigInt(index), line: `line ${index}` }));
    storage.add({ app: "a" }, entries);
    await select(storage, '{app="a"} |= "line"', { limit: 150 });
    assert.equal(storage.entriesRead, 200);
    const [plain] = storage.asked;
    assert.equal(plain!.expectedEntries, 150);
    assert.deepEqual(
      plain!.lineFilters.map(({ operands }) => operands[0]!.value),
      ["line"],
    );
    await select(storage, '{app="a"} | json | x="1" | decolorize |= "y"', { limit: 150 });
    assert.equal(storage.asked[1]!.expectedEntries, undefined);
    assert.deepEqual([storage.asked[1]!.lineFilters, storage.asked[1]!.metadataMatchers], [[], []]);
  });

  test("give the store conditions on labels that no stage has changed yet", async () => {
    const storage = tenEntries();
    const query = '{app="odd"} | trace_id="t1" and region!="x" | a="1" or b="2" | json | n="1"';
    await select(storage, query);
    assert.deepEqual(
      storage.asked[0]!.metadataMatchers.map(({ name }) => name),
      ["trace_id", "region"],
    );
  });

  test("count what they read", async () => {
    const storage = tenEntries();
    const query = { query: '{app="odd"} | json | n > 5', startUnixNano: 0n, endUnixNano: 100n * second, stepMs: 1 };
    const { statistics } = await queryLogqlRange(storage, query);
    assert.deepEqual(
      { ...statistics, durationMs: 0 },
      { entriesRead: 5, bytesRead: 5 * 7, entriesReturned: 2, durationMs: 0 },
    );
    assert.ok(statistics.durationMs > 0);
  });

  test("refuse a limit above the maximum in Loki's words", () =>
    assert.rejects(select(tenEntries(), '{app="odd"}', { limit: 5001 }), {
      code: "invalid_request",
      param: "limit",
      message: "max entries limit per query exceeded, limit > max_entries_limit_per_query (5001 > 5000)",
    }));
});
