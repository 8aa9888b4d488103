/** Queries that try to block the thread, to exhaust memory or to run forever: refused, or evaluated in slices. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { QueryError } from "@sounding/promql/query-error";
import { queryLogqlRange, type LogqlRangeQuery } from "../src/engine.ts";
import type { LogqlResult, QueryStatistics } from "../src/query-result.ts";
import type { EntriesRequest, EntryBatch, LogqlStorage } from "../src/storage.ts";
import { getLabel, labelsFrom } from "@sounding/promql/series/labels";
import { MemoryLogStorage } from "../src/memory-storage.ts";
import { longestHold } from "../../../test/support/thread-holds.ts";

/** Without yielding these queries hold the thread for seconds. Garbage collection and a cold compiler need some of this on a busy machine. */
const longestHoldMs = 500;

const entriesPerBatch = 10_000;

/** Millions of entries, one every microsecond, with a number that repeats after `distinct`. */
class EndlessLogStorage implements LogqlStorage {
  batches = 0;
  opened = 0;
  #open = 0;
  readonly #entries: number;
  readonly #distinct: number;

  constructor({ distinct, entries }: { readonly entries: number; readonly distinct: number }) {
    this.#entries = entries;
    this.#distinct = distinct;
  }

  async *entries({ charge, signal }: EntriesRequest): AsyncGenerator<EntryBatch> {
    const streams = [labelsFrom([["app", "a"]])];
    this.opened += 1;
    this.#open += 1;
    try {
      for (let start = 0; start < this.#entries; start += entriesPerBatch) {
        signal.throwIfAborted();
        charge(entriesPerBatch * 64);
        this.batches += 1;
        const numbers = Array.from({ length: entriesPerBatch }, (_, index) => start + index);
        yield await Promise.resolve({
          count: entriesPerBatch,
          unixNanos: BigInt64Array.from(numbers, (number) => BigInt(number) * 1000n),
          lines: numbers.map((number) => `entry ${number}`),
          lineBytes: new Uint32Array(entriesPerBatch).fill(12),
          streamIndexes: new Uint32Array(entriesPerBatch),
          streams,
          structuredMetadata: numbers.map((number) => ["n", String(number % this.#distinct)]),
        });
      }
    } finally {
      this.#open -= 1;
    }
  }

  get isClosed(): boolean {
    return this.#open === 0;
  }
}

const second = 1_000_000_000n;

async function outcomeOf(
  storage: LogqlStorage,
  query: string,
  options: Partial<LogqlRangeQuery> = {},
): Promise<LogqlResult | Error> {
  const times = { startUnixNano: 0n, endUnixNano: 10n * second, stepMs: 10 };
  const { holdMs, outcome } = await longestHold(() => queryLogqlRange(storage, { ...times, ...options, query }));
  assert.ok(holdMs < longestHoldMs, `the thread was held for ${holdMs} ms`);
  return outcome;
}

function assertError(outcome: LogqlResult | Error, code: string, message: RegExp): void {
  assert.ok(outcome instanceof QueryError, "the query was answered");
  assert.equal(outcome.code, code);
  assert.match(outcome.message, message);
}

describe("many entries", () => {
  for (const query of [
    'count_over_time({app="a"}[1s])',
    'sum by (n) (rate({app="a"} |~ "entry .*7" [10s]))',
    'quantile_over_time(0.9, {app="a"} | unwrap n [1s]) by (app)',
    'topk(5, max_over_time({app="a"} | unwrap n [100ms])) by (n)',
    '{app="a"} |= "no such text"',
  ]) {
    test(`${query} is evaluated in slices`, async () => {
      const outcome = await outcomeOf(new EndlessLogStorage({ entries: 300_000, distinct: 500 }), query);
      if (outcome instanceof Error) throw outcome;
      assert.equal(outcome.statistics.entriesRead, 300_000);
    });
  }

  test("more than the limit end a query", async () => {
    const storage = new EndlessLogStorage({ entries: 10_000_000, distinct: 1 });
    const query = 'sum(count_over_time({app="a"}[1s]))';
    assertError(
      await outcomeOf(storage, query, { limits: { maxEntriesRead: 25_000 } }),
      "invalid_request",
      /more than 25000 entries/,
    );
    assertError(
      await outcomeOf(storage, query, { limits: { maxBytesRead: 300_000 } }),
      "invalid_request",
      /more than 300000 bytes/,
    );
    assert.equal(storage.batches, 6);
    assert.ok(storage.isClosed);
  });

  test("as many series are refused", async () => {
    const storage = new EndlessLogStorage({ entries: 1_000_000, distinct: 1_000_000 });
    const outcome = await outcomeOf(storage, 'count_over_time({app="a"}[1s])', { limits: { maxSeries: 1000 } });
    assertError(outcome, "invalid_request", /maximum number of series \(1000\)/);
    assert.equal(storage.batches, 1);
  });

  test("series and steps are limited together", async () => {
    const storage = new EndlessLogStorage({ entries: 20_000, distinct: 20_000 });
    const limits = { maxSamples: 200_000 };
    const outcome = await outcomeOf(storage, 'count_over_time({app="a"}[10s])', { limits });
    assertError(outcome, "invalid_request", /too many samples into memory/);
  });
});

test("labels that parsers find in one line are limited", async () => {
  const storage = new MemoryLogStorage();
  const pairs = Array.from({ length: 5000 }, (_, index) => index);
  storage.add({ format: "logfmt" }, [{ unixNano: 0n, line: pairs.map((index) => `k${index}=v`).join(" ") }]);
  storage.add({ format: "json" }, [{ unixNano: 0n, line: `{${pairs.map((index) => `"k${index}":1`).join()}}` }]);
  for (const format of ["logfmt", "json"]) {
    const outcome = await outcomeOf(storage, `{format="${format}"} | ${format}`, { limit: 1 });
    if (outcome instanceof Error) throw outcome;
    assert.ok(outcome.value.type === "streams");
    const { labels } = outcome.value.streams[0]!;
    assert.equal(getLabel(labels, "__error__"), "LabelLimitErr");
    assert.equal(labels.pairs.filter((name) => /^k\d/.test(name)).length, 2000);
  }
});

describe("templates that write long texts", () => {
  const megabyte = '{{ repeat 1000 (repeat 1000 "x") }}';
  const storage = new MemoryLogStorage();
  const entries = Array.from({ length: 20 }, (_, index) => ({ unixNano: BigInt(index), line: "x" }));
  storage.add({ app: "a" }, entries);

  test("in labels are limited together", async () => {
    const names = Array.from({ length: 600 }, (_, index) => `l${index}`);
    const assignments = names.map((name) => `${name}=${JSON.stringify(megabyte)}`);
    for (const stages of [
      `| label_format ${assignments.join(",")}`,
      `| label_format ${assignments.join("| label_format ")}`,
    ]) {
      const outcome = await outcomeOf(storage, `{app="a"} ${stages} | keep l0, l9, __error__`, { limit: 1 });
      if (outcome instanceof Error) throw outcome;
      assert.ok(outcome.value.type === "streams");
      const { labels } = outcome.value.streams[0]!;
      assert.deepEqual(
        ["__error__", "l0", "l9"].map((name) => getLabel(labels, name).length),
        ["LabelLimitErr".length, 1_000_000, 0],
      );
    }
  });

  for (const stage of ["line_format ", "label_format x="]) {
    test(`${stage.trim()} lets other requests run`, async () => {
      const turns = await pausesOf(storage, `{app="a"} | ${stage}${JSON.stringify(megabyte)}`);
      assert.ok(turns >= entries.length, `${turns} pauses`);
    });
  }
});

/** How often a query lets other requests run if it does so whenever it can. */
async function pausesOf(storage: LogqlStorage, query: string): Promise<number> {
  let turns = 0;
  const yielder = { isDue: () => true, yield: async () => void turns++ };
  await queryLogqlRange(storage, { query, startUnixNano: 0n, endUnixNano: second, stepMs: 1000, yielder });
  return turns;
}

describe("templates that work long", () => {
  const storage = new MemoryLogStorage();
  storage.add({ app: "a" }, [{ unixNano: 0n, line: "x" }]);
  for (const [title, template] of [
    ["without writing anything", "{{ range 60000 }}{{ end }}"],
    ["on one entry", "{{ range 10000 }}{{ if eq . 1 }}{{ add . 1 }}{{ end }}{{ end }}"],
    ["until they fail", "{{ range 200000 }}{{ $x := add . 1 }}{{ end }}"],
  ] as const) {
    for (const stage of ["line_format ", "label_format x="]) {
      test(`${title} let other requests run: ${stage.trim()}`, async () => {
        const turns = await pausesOf(storage, `{app="a"} | ${stage}${JSON.stringify(template)}`);
        assert.ok(turns >= 20, `${turns} pauses`);
      });
    }
  }
});

describe("time", () => {
  test("a query ends at its deadline", async () => {
    const storage = new EndlessLogStorage({ entries: 1_000_000_000, distinct: 10 });
    const outcome = await outcomeOf(storage, 'count_over_time({app="a"}[1s])', { limits: { timeoutMs: 100 } });
    assertError(outcome, "timeout", /timed out/);
    assert.ok(storage.isClosed);
  });

  test("a query ends when its caller leaves, and reports what it read", async () => {
    const storage = new EndlessLogStorage({ entries: 1_000_000_000, distinct: 10 });
    const caller = new AbortController();
    const reported: QueryStatistics[] = [];
    const onStatistics = (statistics: QueryStatistics): void => {
      reported.push(statistics);
    };
    const answer = outcomeOf(storage, '{app="a"} |= "no such text"', { signal: caller.signal, onStatistics });
    const whenRead = async (): Promise<void> => {
      while (storage.batches < 3) await new Promise((resolve) => setImmediate(resolve));
      caller.abort();
    };
    await whenRead();
    assertError(await answer, "client_closed", /cancelled/);
    assert.ok(storage.isClosed);
    assert.ok(reported[0]!.entriesRead >= 20_000);
    assert.equal(reported[0]!.entriesReturned, 0);
  });
});

describe("a query of several range aggregations", () => {
  test("ends all of them when one fails", async () => {
    const storage = new EndlessLogStorage({ entries: 1_000_000_000, distinct: 1_000_000 });
    const query = 'sum(rate({app="a"}[1s])) / sum(count_over_time({app="a"}[2s])) + count_over_time({app="a"}[1s])';
    const outcome = await outcomeOf(storage, query, { limits: { maxEntriesRead: 100_000 } });
    assertError(outcome, "invalid_request", /more than 100000 entries/);
    assert.deepEqual([storage.isClosed, storage.opened], [true, 2]);
    assert.ok(storage.batches <= 12);
  });
});

describe("memory", () => {
  /** A charge with a limit, like those of requests. */
  function memoryOf(limitBytes: number) {
    const memory = {
      bytes: 0,
      most: 0,
      add(bytes: number) {
        if (memory.bytes + bytes > limitBytes) throw new Error("too much");
        memory.bytes += bytes;
        memory.most = Math.max(memory.most, memory.bytes);
      },
      remove(bytes: number) {
        memory.bytes -= bytes;
      },
    };
    return memory;
  }

  test("of entries is bounded by batches, that of aggregations by series and steps", async () => {
    const memory = memoryOf(20_000_000);
    const storage = new EndlessLogStorage({ entries: 400_000, distinct: 2 });
    const outcome = await outcomeOf(storage, 'sum by (n) (count_over_time({app="a"}[1s]))', { memory });
    if (outcome instanceof Error) throw outcome;
    assert.ok(memory.most < 4_000_000, `${memory.most} bytes at most`);
    assert.ok(memory.bytes < 1_000_000, `${memory.bytes} bytes at the end`);
  });

  test("of samples that a quantile needs is charged before it is allocated", async () => {
    const memory = memoryOf(2_000_000);
    const storage = new EndlessLogStorage({ entries: 400_000, distinct: 2 });
    const query = 'quantile_over_time(0.9, {app="a"} | unwrap n [1s]) by (app)';
    assert.deepEqual(await outcomeOf(storage, query, { memory }), new Error("too much"));
  });

  test("of a result's entries is charged", async () => {
    const memory = memoryOf(1_500_000);
    const storage = new MemoryLogStorage();
    const entries = Array.from({ length: 4000 }, (_, index) => ({ unixNano: BigInt(index), line: "x".repeat(500) }));
    storage.add({ app: "a" }, entries);
    assert.deepEqual(await outcomeOf(storage, '{app="a"}', { memory, limit: 5000 }), new Error("too much"));
  });
});
