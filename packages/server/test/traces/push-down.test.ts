/** What the store skips or aggregates changes no answer: random spans and queries, with and without it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assert as check, asyncProperty, integer } from "fast-check";
import { searchTraces } from "@sounding/traceql/engine";
import { queryTraceqlRange } from "@sounding/traceql/metrics/query-metrics";
import type { TraceqlStorage } from "@sounding/traceql/storage";
import { parseQuery } from "@sounding/traceql/syntax/parse-query";
import { createTenantTraces } from "../../src/query/traces/traceql-storage/tenant-traces.ts";
import { scopeOf } from "../store/test-store.ts";
import { metricsQuery, query } from "./arbitrary-query.ts";
import { randomSpans } from "./random-spans.ts";
import { startTempoServer, type TempoServer } from "./tempo-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const secondNano = 1_000_000_000n;
const nowNano = (BigInt(Date.now()) / 1000n) * secondNano;
const startUnixNano = nowNano - 3000n * secondNano;

let server: TempoServer;
let storage: TraceqlStorage;
beforeTests(async (stack) => {
  server = stack.use(await startTempoServer());
  const batches = randomSpans(startUnixNano);
  await server.send(batches);
  // Some requests are repeated, as by a sender that received no answer.
  await server.send(batches.slice(0, 3));
  storage = createTenantTraces({ reader: server.store.open(scopeOf("org_a")), project: undefined });
});

/** The same storage without conditions: the engine decides everything. */
function withoutConditions(inner: TraceqlStorage): TraceqlStorage {
  return { traces: (request) => inner.traces({ ...request, conditions: [null], combination: "any" }) };
}

/** Undefined for queries that the language refuses. */
function parsed(text: string): ReturnType<typeof parseQuery> | undefined {
  try {
    return parseQuery(text);
  } catch {
    return undefined;
  }
}

test("searches find the same traces and spans", async () => {
  let evaluated = 0;
  await check(
    asyncProperty(query, integer({ min: 1, max: 80 }), async (text, limit) => {
      const tree = parsed(text);
      if (tree?.kind !== "search-query") return;
      const find = (from: TraceqlStorage) =>
        searchTraces(from, { query: tree, startUnixNano, endUnixNano: nowNano, limit: 1000, spansPerSpanSet: 100 });
      const [found, expected] = await Promise.all([find(storage), find(withoutConditions(storage))]);
      assert.deepEqual(found.traces, expected.traces, text);
      evaluated += 1;
      const some = await searchTraces(storage, { query: tree, startUnixNano, endUnixNano: nowNano, limit });
      assert.equal(some.traces.length, Math.min(limit, expected.traces.length), text);
    }),
    { numRuns: 30, seed: 7 },
  );
  assert.ok(evaluated > 8, `${evaluated} queries were evaluated`);
});

test("metrics have the same series", async () => {
  let evaluated = 0;
  let aggregated = 0;
  const counting: TraceqlStorage = {
    traces: (request) => storage.traces(request),
    async spanGrid(request) {
      const grid = await storage.spanGrid!(request);
      if (grid !== null) aggregated += 1;
      return grid;
    },
  };
  await check(
    asyncProperty(metricsQuery, async (text) => {
      const tree = parsed(text);
      if (tree === undefined) return;
      const stepNano = 600n * secondNano;
      const read = (from: TraceqlStorage) =>
        queryTraceqlRange(from, { query: tree, startUnixNano, endUnixNano: nowNano, stepNano });
      const [found, expected] = await Promise.all([read(counting), read(withoutConditions(storage))]);
      const shown = ({ series }: typeof found) =>
        series.map(({ labels, timestampsMs, values }) => ({ labels, timestampsMs, values }));
      assert.deepEqual(shown(found), shown(expected), text);
      evaluated += 1;
    }),
    { numRuns: 40, seed: 5 },
  );
  assert.ok(evaluated > 10 && aggregated > 2, `${evaluated} queries were evaluated, ${aggregated} in the store`);
});
