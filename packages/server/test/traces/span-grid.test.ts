/** Aggregates in the store equal what the spans add up to. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assert as check, asyncProperty } from "fast-check";
import { searchTraces } from "@sounding/traceql/engine";
import { keyOf } from "@sounding/traceql/spans/static-value";
import type { SpanGridRequest, TraceqlSpan, TraceqlStorage } from "@sounding/traceql/storage";
import type { FieldExpression } from "@sounding/traceql/syntax/ast";
import { parseQuery } from "@sounding/traceql/syntax/parse-query";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { createTenantTraces } from "../../src/query/traces/traceql-storage/tenant-traces.ts";
import { scopeOf } from "../store/test-store.ts";
import { condition } from "./arbitrary-query.ts";
import { randomSpans } from "./random-spans.ts";
import { startTempoServer, type TempoServer } from "./tempo-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const secondNano = 1_000_000_000n;
const nowNano = (BigInt(Date.now()) / 1000n) * secondNano;
const startUnixNano = nowNano - 3000n * secondNano;
/** Statements read four hours in two slices, which meet among the spans and within an interval. */
const gridStartNano = startUnixNano + 1500n * secondNano - 7200n * secondNano;
const stepNano = 700n * secondNano;

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

const maxSeries = 1000;

type GridOptions = Pick<SpanGridRequest, "condition" | "measure" | "field" | "by">;

function gridRequest(options: GridOptions): SpanGridRequest {
  return {
    ...options,
    fromUnixNano: gridStartNano,
    toUnixNano: gridStartNano + 14_400n * secondNano,
    intervals: { firstUnixNano: gridStartNano, stepNano, count: 21 },
    maxSeries,
    signal: AbortSignal.timeout(60_000),
    yieldBudget: neverYield,
    charge: () => {},
  };
}

async function allSpans(fields: SpanGridRequest["by"]): Promise<TraceqlSpan[]> {
  const spans: TraceqlSpan[] = [];
  const { condition: _, ...request } = gridRequest({ condition: null, measure: "count", field: null, by: [] });
  const all = {
    ...request,
    conditions: [null],
    combination: "any",
    wholeTraces: false,
    heads: false,
    fields,
    expectedTraces: undefined,
  } as const;
  for await (const batch of storage.traces(all)) for (const trace of batch) spans.push(...trace.spans);
  return spans;
}

function filterOf(text: string): FieldExpression | null {
  const tree = parseQuery(text);
  assert.ok(tree.kind === "search-query");
  const [first] = tree.stages;
  assert.ok(first?.kind === "spanset-filter");
  return first.condition;
}

/** The fields that a condition compares. */
function fieldOf(text: string): SpanGridRequest["by"][number] {
  const expression = filterOf(`{ ${text} != nil }`);
  assert.ok(expression?.kind === "field-operation");
  assert.ok(expression.left.kind === "attribute" || expression.left.kind === "intrinsic");
  return expression.left;
}

const duration = fieldOf("duration");

function valueIn(span: TraceqlSpan, text: string): ReturnType<TraceqlSpan["attributes"]["get"]> {
  if (text === "name") return { type: "string", value: span.name };
  if (text === "status") return { type: "status", value: span.status };
  if (text === "kind") return { type: "kind", value: span.kind };
  const name = text.replace(/^(?:span|resource)?\./, "");
  if (text.startsWith("span.")) return span.attributes.get(name);
  return text.startsWith("resource.")
    ? span.resource.get(name)
    : (span.attributes.get(name) ?? span.resource.get(name));
}

function inOrder(cells: ReadonlyMap<string, number>): [string, number][] {
  return [...cells].sort(([left], [right]) => (left < right ? -1 : 1));
}

describe("grids equal what the spans add up to", () => {
  const fields = ["name", "status", "kind", "resource.service.name", "resource.one", "span.three", ".one"];
  for (const by of [[], ...fields.map((each) => [each]), ["resource.service.name", "status"]]) {
    for (const measure of ["count", "sum", "min", "max", "histogram"] as const) {
      test(`${measure} by (${by.join(", ")})`, async () => {
        const options = { condition: null, measure, field: measure === "count" ? null : duration, by: by.map(fieldOf) };
        const grid = await storage.spanGrid!(gridRequest(options));
        // Large values are not in the spans' rows.
        if (grid === null) return assert.ok(by.some((each) => each.includes("three") || each === ".one"));
        const found = new Map<string, number>();
        for (const { bucket, by: keys, present, values: cells } of grid)
          for (const [at, cell] of cells.entries())
            if (present[at] === 1) found.set(JSON.stringify([bucket, at, ...keys.map(keyOf)]), cell);
        const expected = new Map<string, number>();
        for (const span of await allSpans(by.map(fieldOf))) {
          const nanos = Number(span.durationNano);
          if (measure === "histogram" && nanos < 2) continue;
          const bucket = measure === "histogram" ? 2 ** Math.ceil(Math.log2(nanos)) : null;
          const at = Number((span.startUnixNano - gridStartNano) / stepNano);
          const keys = by.map((each) => keyOf(valueIn(span, each) ?? { type: "nil" }));
          const key = JSON.stringify([bucket, at, ...keys]);
          const before = expected.get(key);
          const own = measure === "count" || measure === "histogram" ? 1 : nanos;
          expected.set(
            key,
            before === undefined
              ? own
              : measure === "min"
                ? Math.min(before, own)
                : measure === "max"
                  ? Math.max(before, own)
                  : before + own,
          );
        }
        assert.deepEqual(inOrder(found), inOrder(expected));
      });
    }
  }

  test("of spans with a condition, or there is none", async () => {
    let compared = 0;
    await check(
      asyncProperty(condition, async (text) => {
        const tree = parsed(`{ ${text} }`);
        if (tree?.kind !== "search-query") return;
        const grid = await storage.spanGrid!(
          gridRequest({ condition: filterOf(`{ ${text} }`), measure: "count", field: null, by: [] }),
        );
        if (grid === null) return;
        const total = grid.reduce((sum, { values: cells }) => sum + cells.reduce((left, right) => left + right, 0), 0);
        const { traces } = await searchTraces(withoutConditions(storage), {
          query: tree,
          startUnixNano,
          endUnixNano: nowNano,
          limit: 1000,
        });
        assert.equal(
          total,
          traces.reduce((sum, { spanSets }) => sum + spanSets[0]!.matched, 0),
          text,
        );
        compared += 1;
      }),
      { numRuns: 60, seed: 11 },
    );
    assert.ok(compared > 5, `${compared} conditions were compared`);
  });
});
