/** Sums by minute give the same grids as the spans, whatever is written twice, late, or deleted. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { SpanGridRequest, SpanGridSeries } from "@sounding/traceql/storage";
import { parseQuery } from "@sounding/traceql/syntax/parse-query";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { createTenantTraces } from "../../src/query/traces/traceql-storage/tenant-traces.ts";
import { bind, sql } from "../../src/store/statement.ts";
import type { TenantReader } from "../../src/store/store.ts";
import { hourNanos } from "../../src/store/rollups/rollup.ts";
import { scopeOf } from "../store/test-store.ts";
import { untilRolledUp } from "../support/rolled-up.ts";
import { resourceSpans } from "./otlp-spans.ts";
import { randomSpans } from "./random-spans.ts";
import { startTempoServer, type TempoServer } from "./tempo-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const hours = 9n;
const firstHourNano = ((BigInt(Date.now()) * 1_000_000n) / hourNanos - hours - 1n) * hourNanos;
const minuteNano = 60_000_000_000n;

/** Of a sender whose clock was set back: it ends before it starts. */
const backwards = {
  traceId: "b".repeat(32),
  spanId: "b".repeat(16),
  startNano: firstHourNano + 90n * minuteNano,
  durationNano: -5_000_000_000n,
};

let server: TempoServer;
beforeTests(async (stack) => {
  server = stack.use(await startTempoServer({ settings: { rollup_delay_ms: 1 } }));
  // Spans over the ends of hours, and hours without any.
  for (const hour of [0n, 1n, 3n, 4n, 7n]) {
    const batches = randomSpans(firstHourNano + hour * hourNanos + 25n * minuteNano);
    await server.send(batches);
    await server.send(batches.slice(0, 3));
    await server.send(batches, { project: "other" });
    await server.send(batches.slice(2), { key: "org_b" });
  }
  await server.send([resourceSpans({ "service.name": "skewed" }, { spans: [backwards] })]);
  await untilRolledUp(server.store, { source: "spans", organizations: ["org_a", "org_b"] });
});

/** A reader that counts the statements that read sums. */
function counting(reader: TenantReader): { reader: TenantReader; sums: () => number } {
  let sums = 0;
  return {
    reader: {
      ...reader,
      query: (statement, options) => {
        if (statement.render().text.includes("FROM span_minutes")) sums += 1;
        return reader.query(statement, options);
      },
    },
    sums: () => sums,
  };
}

interface Asked {
  readonly by?: readonly string[];
  readonly condition?: string;
  readonly measure?: SpanGridRequest["measure"];
  readonly startNano?: bigint;
  readonly stepNano?: bigint;
  readonly organization?: string;
  readonly project?: string;
}

function fieldOf(text: string): SpanGridRequest["by"][number] {
  const expression = conditionOf(`${text} != nil`);
  assert.ok(expression?.kind === "field-operation");
  assert.ok(expression.left.kind === "attribute" || expression.left.kind === "intrinsic");
  return expression.left;
}

function conditionOf(text: string | undefined): SpanGridRequest["condition"] {
  if (text === undefined) return null;
  const tree = parseQuery(`{ ${text} }`);
  assert.ok(tree.kind === "search-query" && tree.stages[0]?.kind === "spanset-filter");
  return tree.stages[0].condition;
}

async function bothGrids(asked: Asked): Promise<{ ofSums: unknown; ofSpans: unknown; sums: number }> {
  const { by = [], measure = "count", organization = "org_a", project, startNano, stepNano = 5n * minuteNano } = asked;
  const from = startNano ?? firstHourNano;
  const request: SpanGridRequest = {
    condition: conditionOf(asked.condition),
    measure,
    field: measure === "count" ? null : fieldOf("duration"),
    by: by.map(fieldOf),
    // As the engine asks: intervals exclude their start.
    fromUnixNano: from + 1n,
    toUnixNano: from + hours * hourNanos + 1n,
    intervals: { firstUnixNano: from + 1n, stepNano, count: Number((hours * hourNanos) / stepNano) + 1 },
    maxSeries: 1000,
    signal: AbortSignal.timeout(60_000),
    yieldBudget: neverYield,
    charge: () => {},
  };
  const { reader, sums } = counting(server.store.open(scopeOf(organization)));
  const ofSums = await createTenantTraces({ reader, project }).spanGrid!(request);
  const ofSpans = await createTenantTraces({ reader: { ...reader, usesRollups: false }, project }).spanGrid!(request);
  return { ofSums: plain(ofSums), ofSpans: plain(ofSpans), sums: sums() };
}

function plain(grid: readonly SpanGridSeries[] | null): unknown {
  assert.ok(grid !== null);
  return grid
    .map(({ bucket, by, present, values }) => ({
      key: JSON.stringify([bucket, by], (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
      values: [...values],
      present: [...present],
    }))
    .sort((left, right) => (left.key < right.key ? -1 : 1));
}

async function assertSame(asked: Asked, expectedSums = 1): Promise<void> {
  const { ofSpans, ofSums, sums } = await bothGrids(asked);
  assert.deepEqual(ofSums, ofSpans);
  assert.equal(sums, expectedSums, "statements that read sums");
}

describe("a grid of sums equals one of spans", () => {
  for (const measure of ["count", "sum", "min", "max", "histogram"] as const) {
    for (const by of [[], ["resource.service.name"], ["kind", "status"], ["resource.one", "resource.three"]]) {
      test(`${measure} by (${by.join(", ")})`, () => assertSame({ measure, by }));
    }
  }

  for (const condition of [
    "status = error",
    'resource.service.name = "shop" && kind != server',
    "resource.one != nil || status = ok",
    "!(kind = client)",
    "resource.two.b != nil",
  ]) {
    test(`of spans with ${condition}`, () => assertSame({ condition, by: ["resource.service.name"] }));
  }

  test("of one project, of another organization", async () => {
    await assertSame({ project: "other" });
    await assertSame({ organization: "org_b" });
    const { ofSums } = await bothGrids({ organization: "org_none" });
    assert.deepEqual(ofSums, []);
  });

  test("of a range that begins and ends within hours", () =>
    assertSame({ startNano: firstHourNano + 37n * minuteNano }));
});

describe("spans are read where the sums do not have what is asked", () => {
  for (const [name, asked] of Object.entries<Asked>({
    "steps that are no whole minutes": { stepNano: 90_000_000_000n },
    "a start within a minute": { startNano: firstHourNano + 1_000_000_000n },
    names: { by: ["name"] },
    "conditions on names": { condition: 'name = "get"' },
    "conditions on durations": { condition: "duration > 1s" },
  })) {
    test(name, () => assertSame(asked, 0));
  }
});

describe("what is written later counts at once", () => {
  test("late spans, repeated spans, and spans of hours that had none", async () => {
    for (const hour of [1n, 2n]) await server.send(randomSpans(firstHourNano + hour * hourNanos + 3n * minuteNano));
    const before = await bothGrids({ by: ["resource.service.name"], measure: "sum" });
    assert.deepEqual(before.ofSums, before.ofSpans);
    await untilRolledUp(server.store, { source: "spans", organizations: ["org_a"] });
    const after = await bothGrids({ by: ["resource.service.name"], measure: "sum" });
    assert.deepEqual(after.ofSums, before.ofSums);
    await assertSame({ measure: "histogram" });
  });

  test("deletions", async () => {
    const condition = sql`service = ${bind.text("shop")}`;
    await server.store.remove(scopeOf("org_a"), { table: "spans", condition, signal: AbortSignal.timeout(60_000) });
    const before = await bothGrids({ by: ["resource.service.name"] });
    assert.deepEqual(before.ofSums, before.ofSpans);
    assert.doesNotMatch(JSON.stringify(before.ofSums), /shop/);
    await untilRolledUp(server.store, { source: "spans", organizations: ["org_a"] });
    await assertSame({ by: ["resource.service.name"] });
  });
});
