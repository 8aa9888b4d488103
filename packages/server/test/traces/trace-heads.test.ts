/** What is known of a whole trace does not depend on whether its spans are read, too. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import type { TraceHead } from "@sounding/traceql/storage";
import { parseQuery } from "@sounding/traceql/syntax/parse-query";
import { createTenantTraces } from "../../src/query/traces/traceql-storage/tenant-traces.ts";
import { scopeOf } from "../store/test-store.ts";
import { randomSpans } from "./random-spans.ts";
import { startTempoServer, type TempoServer } from "./tempo-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const nowNano = BigInt(Date.now()) * 1_000_000n;
const startUnixNano = nowNano - 3_000_000_000_000n;

/** Of the found traces, some spans fulfil it. */
const query = parseQuery("{ kind = server }");
assert.ok(query.kind === "search-query" && query.stages[0]?.kind === "spanset-filter");
const serverSpans = query.stages[0].condition;

let server: TempoServer;
beforeTests(async (stack) => {
  server = stack.use(await startTempoServer());
  const batches = randomSpans(startUnixNano);
  await server.send(batches);
  // A repeated request changes nothing.
  await server.send(batches.slice(0, 2));
});

async function readHeads(wholeTraces: boolean): Promise<ReadonlyMap<string, TraceHead | null>> {
  const { traces } = createTenantTraces({ reader: server.store.open(scopeOf("org_a")), project: undefined });
  const found = new Map<string, TraceHead | null>();
  const request = {
    conditions: [serverSpans],
    combination: "all",
    fromUnixNano: startUnixNano - 3_600_000_000_000n,
    toUnixNano: nowNano,
    wholeTraces,
    heads: true,
    fields: [],
    expectedTraces: 3,
    signal: AbortSignal.timeout(120_000),
    yieldBudget: neverYield,
    charge: () => {},
  } as const;
  for await (const batch of traces(request)) for (const { head, traceId } of batch) found.set(traceId, head);
  return found;
}

test("heads from the spans of whole traces equal those that the store aggregates", async () => {
  const [fromSpans, aggregated] = [await readHeads(true), await readHeads(false)];
  assert.ok(aggregated.size > 20, `${aggregated.size} traces`);
  assert.deepEqual(fromSpans, aggregated);
});
