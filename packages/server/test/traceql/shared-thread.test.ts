/** A long query lets other requests run: between the groups of an aggregate, within a series, and between the spans of a trace. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { convertedList, incrementalJson } from "../../src/http/incremental-json.ts";
import { searchTraces } from "@sounding/traceql/engine";
import { queryTraceqlRange } from "@sounding/traceql/metrics/query-metrics";
import type { SpanGridRequest, SpanGridSeries, TraceqlStorage } from "@sounding/traceql/storage";
import { parseQuery } from "@sounding/traceql/syntax/parse-query";
import { MemoryTraces } from "@sounding/traceql/memory-storage";
import { toTrace } from "../../../traceql/test/support/traces.ts";

const second = 1_000_000_000n;

/** Counts the turns that a query gives to others; it is always asked to. */
class CountedTurns {
  count = 0;

  isDue(): boolean {
    return true;
  }

  yield(): Promise<void> {
    this.count++;
    return Promise.resolve();
  }
}

/** A store that has aggregated many groups, and records in which turn each of them is read. */
class ManyGroups implements TraceqlStorage {
  readonly readInTurn: number[] = [];
  readonly #turns: CountedTurns;

  constructor(turns: CountedTurns) {
    this.#turns = turns;
  }

  async *traces(): AsyncGenerator<never> {}

  spanGrid({ by, intervals, measure }: SpanGridRequest): Promise<readonly SpanGridSeries[]> {
    const buckets = measure === "histogram" ? [1024, 2048, 4096, 8192] : [null];
    return Promise.resolve(
      Array.from({ length: groups }, (_, group) => buckets.map((bucket) => ({ bucket, group })))
        .flat()
        .map(({ bucket, group }) => this.#series({ bucket, by, count: intervals.count, group })),
    );
  }

  #series({
    bucket,
    by,
    count,
    group,
  }: {
    readonly bucket: number | null;
    readonly by: SpanGridRequest["by"];
    readonly count: number;
    readonly group: number;
  }): SpanGridSeries {
    const [readInTurn, turns] = [this.readInTurn, this.#turns];
    return {
      bucket,
      values: new Float64Array(count).fill(group),
      present: new Uint8Array(count).fill(1),
      get by() {
        readInTurn.push(turns.count);
        return by.map(() => ({ type: "string" as const, value: String(group) }));
      },
    };
  }
}

const groups = 200;
const steps = 2000;

async function turnsOf(storage: TraceqlStorage, query: string, yielder: CountedTurns): Promise<number> {
  const range = { startUnixNano: 10_000n * second, endUnixNano: (10_000n + BigInt(steps)) * second, stepNano: second };
  await queryTraceqlRange(storage, { query: parseQuery(query), ...range, exemplars: 0, yielder });
  return yielder.count;
}

describe("a metrics query on many groups and intervals lets others run", () => {
  for (const aggregate of [
    "rate()",
    "sum_over_time(duration)",
    "avg_over_time(duration)",
    "histogram_over_time(duration)",
    "quantile_over_time(duration, .5)",
  ]) {
    test(`while it reads them: ${aggregate}`, async () => {
      const turns = new CountedTurns();
      const storage = new ManyGroups(turns);
      await turnsOf(storage, `{ } | ${aggregate} by (name)`, turns);
      assert.ok(new Set(storage.readInTurn).size > groups / 4, `${new Set(storage.readInTurn).size} turns`);
    });
  }

  test("while it computes quantiles", async () => {
    const [counts, quantiles] = [new CountedTurns(), new CountedTurns()];
    await turnsOf(new ManyGroups(counts), "{ } | histogram_over_time(duration) by (name)", counts);
    await turnsOf(new ManyGroups(quantiles), "{ } | quantile_over_time(duration, .5) by (name)", quantiles);
    // Each of the 400,000 quantiles looks at four buckets.
    assert.ok(quantiles.count - counts.count > 400, `${counts.count} and ${quantiles.count} turns`);
  });

  test("while it compares the values of many attributes", async () => {
    const names = Array.from({ length: groups }, (_, index) => `a${index}`);
    const is = Object.fromEntries(names.map((name) => [name, name]));
    const turns = new CountedTurns();
    const traces = [toTrace("0a", [{ id: "1", startMs: 10_500_000, is }])];
    await turnsOf(new MemoryTraces(traces), "{ } | compare({ status = error })", turns);
    // Each attribute has a series for its value and one for the total.
    assert.ok(turns.count > groups / 2, `${turns.count} turns`);
  });
});

describe("a search of a long trace lets others run", () => {
  const search = async (query: string, spans: number): Promise<number> => {
    const yielder = new CountedTurns();
    const trace = toTrace(
      "0a",
      Array.from({ length: spans }, (_, index) => ({
        id: String(index + 1),
        parent: index === 0 ? "" : String((index + 1) >> 1),
        events: [{ name: "e" }],
      })),
    );
    const range = { startUnixNano: 0n, endUnixNano: 1_000_000n * second };
    await searchTraces(new MemoryTraces([trace]), { query, ...range, spansPerSpanSet: spans, yielder });
    return yielder.count;
  };

  test("the more often, the longer the condition is", async () => {
    const alternatives = Array.from({ length: 200 }, (_, index) => `.a = ${index}`).join(" || ");
    const [short, long] = [await search("{ .a = 1 }", 2000), await search(`{ ${alternatives} }`, 2000)];
    assert.ok(long > 100 * short, `${short} and ${long} turns`);
  });

  test("while it relates spans", async () => {
    const [once, twice] = [await search("{ } &>> { }", 20_000), await search("{ } &>> { } &>> { }", 20_000)];
    assert.ok(twice - once > 20, `${once} and ${twice} turns`);
  });

  test("while its spans are written", async () => {
    const spans = Array.from({ length: 10_000 }, (_, index) => index);
    let converted = 0;
    const convert = (index: number): object => {
      converted++;
      return { id: index };
    };
    const response = incrementalJson({ spans: convertedList(spans, convert) });
    assert.ok(response.kind === "stream");
    const pieces: Uint8Array[] = [];
    for await (const piece of response.bytes) {
      if (pieces.length === 0) assert.ok(converted < spans.length, `${converted} spans`);
      pieces.push(piece);
    }
    assert.equal(Buffer.concat(pieces).toString(), JSON.stringify({ spans: spans.map((id) => ({ id })) }));
  });
});
