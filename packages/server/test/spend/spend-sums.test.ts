/** Sums of spend equal the sum of the calls' costs to the last billionth, from quarters of an hour and from spans. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { SpendQuery } from "../../src/api/spend.ts";
import { readSpend, type SpendSums } from "../../src/query/spend/read-spend.ts";
import { decimalOf } from "../../src/query/spend/spend-amounts.ts";
import { ZonedDays } from "../../src/query/spend/spend-days.ts";
import { readSpendRequest } from "../../src/query/spend/spend-request.ts";
import { bind, sql } from "../../src/store/statement.ts";
import type { TenantReader } from "../../src/store/store.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { appendSpans, type SpanRow } from "../metrics/telemetry-rows.ts";
import { openTestStore, scopeOf, type TestStore } from "../store/test-store.ts";
import { untilRolledUp } from "../support/rolled-up.ts";

const hourMs = 3_600_000;
const hours = 7;
/** The last hours are over, with a margin in which calls can depend on later spans. */
const endMs = Math.floor((Date.now() - 600_000) / hourMs) * hourMs;
/** Each hour is summed for every rollup. */
const slowMs = 600_000;
const startMs = endMs - hours * hourMs;

interface Call extends SpanRow {
  readonly engine: string;
  readonly key: string;
  readonly user: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly cost: bigint | undefined;
}

/** Costs up to the highest that a span may have, so that sums exceed what a double holds. */
function callsWith(seed: number, count: number, ofHours = hours): Call[] {
  let state = seed;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  const pick = <Value>(values: readonly Value[]): Value => values[random(values.length)]!;
  return Array.from({ length: count }, (): Call => {
    const costBillionths = random(4) === 0 ? undefined : pick([random(2_000_000_000), 999_999_999_999_999 - random(9)]);
    const [engine, key, user] = [pick(["gpu", "cloud", ""]), pick(["key_1", "key_2", ""]), pick(["ada", "bob", ""])];
    const tags: Record<string, string> = {
      ...(random(2) === 0 ? { team: pick(["search", "chat", "a=b,c'\\\""]) } : {}),
      ...(random(3) === 0 ? { "cost.center": pick(["1", "2"]) } : {}),
    };
    const anywhere = startMs + random(ofHours * hourMs);
    const quarterMs = 900_000;
    return {
      endMs: random(6) === 0 ? Math.floor(anywhere / quarterMs) * quarterMs + random(3) - 1 : anywhere,
      durationMs: 1 + random(20_000),
      project: pick(["alpha", "beta"]),
      model: pick(["gpt", "llama", ""]),
      operation: pick(["chat", "embeddings", "speech"]),
      ...(random(6) === 0 ? { errorType: "timeout" } : {}),
      inputTokens: random(3) === 0 ? 0 : random(1_000_000),
      outputTokens: random(3) === 0 ? 0 : random(1000),
      ...(costBillionths === undefined ? {} : { costBillionths, currency: pick(["USD", "EUR", ""]) }),
      engine,
      key,
      user,
      tags,
      cost: costBillionths === undefined ? undefined : BigInt(costBillionths),
      attributes: {
        ...(engine === "" ? {} : { "sounding.engine": engine }),
        ...(key === "" ? {} : { "sounding.key.id": key, "sounding.key.name": `name of ${key}` }),
        ...(user === "" ? {} : { "user.id": user }),
        ...Object.fromEntries(Object.entries(tags).map(([name, value]) => [`sounding.metadata.${name}`, value])),
      },
    };
  });
}

const calls = callsWith(7, 2000);

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore({ settings: { rollup_delay_ms: 1 } }));
  // Every third call is also reported by its application, which does not count, even with a cost of its own.
  const rows = calls.flatMap((call, index): SpanRow[] => {
    if (index % 3 !== 0) return [call];
    const responseKey = BigInt(1_000_000 + index);
    const reported = { ...call, responseKey, costBillionths: 5, endMs: call.endMs + 200_000 * ((index % 2) * 2 - 1) };
    return [{ ...call, responseKey, served: true }, reported];
  });
  const others = ["invoke_agent", "execute_tool"].map((operation) => ({ ...calls[0]!, operation }));
  await appendSpans(opened.store, "org_a", [...rows, ...others], 2);
  await appendSpans(opened.store, "org_b", callsWith(8, 50, 1));
  await untilRolledUp(opened.store, { source: "spend", organizations: ["org_a", "org_b"], withinMs: slowMs });
});

interface Read {
  readonly sums: SpendSums;
  readonly reads: { readonly sums: number; readonly spans: number };
}

async function read(query: SpendQuery, { usesRollups = true, organization = "org_a" } = {}): Promise<Read> {
  const reader = opened.store.open(scopeOf(organization));
  const reads = { sums: 0, spans: 0 };
  const noting: TenantReader = {
    ...reader,
    usesRollups,
    stream(statement, options) {
      const { text } = statement.render();
      if (text.includes("FROM spend_quarters")) reads.sums += 1;
      if (text.includes("FROM spans FINAL")) reads.spans += 1;
      return reader.stream(statement, options);
    },
  };
  const request = await readSpendRequest(query, query.project_name ?? undefined);
  const search = { ...request, currency: "GBP", signal: AbortSignal.timeout(60_000) };
  return { sums: await readSpend(noting, search), reads };
}

/** The groups, by their values and currency, as the calls themselves say. */
function expected(query: SpendQuery): Map<string, [cost: string, calls: number, unpriced: number, tokens: number]> {
  const days = new ZonedDays(query.time_zone ?? "UTC");
  const [fromMs, toMs] = [Date.parse(query.start!), Date.parse(query.end!)];
  const valueOf: Readonly<Record<string, (call: Call) => string>> = {
    day: (call) => String(days.startOf(days.dateAt(call.endMs - 1)) / 1000),
    model: (call) => call.model!,
    engine: (call) => call.engine,
    project: (call) => call.project!,
    key: (call) => call.key,
    user: (call) => call.user,
    organization: () => "",
  };
  const groups = new Map<string, { cost: bigint; calls: number; unpriced: number; tokens: number }>();
  for (const call of calls) {
    if (call.endMs <= fromMs || call.endMs > toMs) continue;
    if (query.project_name != null && call.project !== query.project_name) continue;
    if (query.model != null && call.model !== query.model) continue;
    if (query.engine != null && call.engine !== query.engine) continue;
    if (query.key_id != null && call.key !== query.key_id) continue;
    if (query.user_id != null && call.user !== query.user_id) continue;
    if (Object.entries(query.tags ?? {}).some(([name, value]) => (call.tags[name] ?? "") !== value)) continue;
    const values = (query.by === "" ? [] : query.by!.split(",")).map((name) =>
      name.startsWith("tag:") ? (call.tags[name.slice(4)] ?? "") : valueOf[name]!(call),
    );
    const used = call.inputTokens! + call.outputTokens!;
    const id = JSON.stringify([...values, call.currency === undefined || call.currency === "" ? "GBP" : call.currency]);
    const group = groups.get(id) ?? { cost: 0n, calls: 0, unpriced: 0, tokens: 0 };
    group.cost += call.cost ?? 0n;
    group.calls += 1;
    group.unpriced += call.cost === undefined && (call.errorType === undefined || used > 0) ? 1 : 0;
    group.tokens += used;
    groups.set(id, group);
  }
  return new Map(
    [...groups].map(([id, { calls: count, cost, tokens, unpriced }]) => [
      id,
      [decimalOf(cost), count, unpriced, tokens],
    ]),
  );
}

function found({ groups }: SpendSums): ReturnType<typeof expected> {
  return new Map(
    groups
      .map(({ amounts, currency, values }): [string, [string, number, number, number]] => [
        JSON.stringify([...values, currency]),
        [
          decimalOf(amounts.costBillionths),
          amounts.calls,
          amounts.unpricedCalls,
          amounts.inputTokens + amounts.outputTokens,
        ],
      ])
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}

const sorted = (map: ReturnType<typeof expected>): [string, unknown][] =>
  [...map].sort(([left], [right]) => (left < right ? -1 : 1));

const optionalOf = <Value>(...values: Value[]): fc.Arbitrary<Value | null> =>
  fc.option(fc.constantFrom(...values), { nil: null, freq: 1 });

const anyTime = fc.integer({ min: startMs - 2 * hourMs, max: endMs + hourMs });
const anyQuery: fc.Arbitrary<SpendQuery> = fc
  .record({
    by: fc
      .uniqueArray(
        fc.constantFrom(
          "day",
          "model",
          "engine",
          "organization",
          "project",
          "key",
          "user",
          "tag:team",
          "tag:cost.center",
        ),
        { maxLength: 4 },
      )
      .map((names) => names.join(",")),
    times: fc.uniqueArray(anyTime, { minLength: 2, maxLength: 2 }),
    time_zone: fc.constantFrom("UTC", "Europe/Berlin", "Asia/Kathmandu", "Pacific/Chatham", "America/New_York"),
    project_name: optionalOf("alpha", "beta", "none"),
    model: optionalOf("gpt", ""),
    engine: optionalOf("gpu", ""),
    key_id: optionalOf("key_1", ""),
    user_id: optionalOf("ada", ""),
    tags: optionalOf<Record<string, string>>(
      { team: "search" },
      { team: "" },
      { team: "a=b,c'\\\"", "cost.center": "1" },
    ),
  })
  .map(({ times, ...query }) => {
    const [start, end] = times.toSorted((left, right) => left - right).map((ms) => new Date(ms).toISOString());
    return { ...query, start: start!, end: end!, limit: 10_000 };
  });

describe("spend", () => {
  test("equals the sum of the calls, whatever the groups, filters, zone and range", async () => {
    const totals = { sums: 0, spans: 0 };
    await fc.assert(
      fc.asyncProperty(anyQuery, async (query) => {
        const [ofSums, ofSpans] = await Promise.all([read(query), read(query, { usesRollups: false })]);
        assert.deepEqual(sorted(found(ofSums.sums)), sorted(expected(query)));
        assert.deepEqual(sorted(found(ofSpans.sums)), sorted(expected(query)));
        assert.equal(ofSpans.reads.sums, 0);
        totals.sums += ofSums.reads.sums;
        totals.spans += ofSums.reads.spans;
      }),
      { numRuns: propertyRuns(120) },
    );
    assert.ok(totals.sums > 0 && totals.spans > 0, JSON.stringify(totals));
  });

  const whole = { by: "", start: new Date(startMs - hourMs).toISOString(), end: new Date(endMs).toISOString() };

  test("of whole hours reads no spans", async () => {
    const { reads } = await read({ ...whole, by: "model,user" });
    assert.deepEqual(reads, { sums: 1, spans: 0 });
  });

  test("beyond the limit is part of the totals only", async () => {
    const { sums } = await read({ ...whole, by: "user,model,day", limit: 3 });
    assert.deepEqual([sums.groups.length, sums.isTruncated], [3, true]);
    const costs = sums.groups.map(({ amounts }) => amounts.costBillionths);
    assert.deepEqual(
      costs,
      costs.toSorted((left, right) => (left > right ? -1 : 1)),
    );
    const total = [...sums.totals.values()].reduce((sum, { costBillionths }) => sum + costBillionths, 0n);
    assert.equal(
      total,
      calls.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n),
    );
    assert.ok(total > BigInt(Number.MAX_SAFE_INTEGER));
  });

  test("of another organization is its own", async () => {
    const { sums } = await read(whole, { organization: "org_b" });
    assert.equal(
      [...sums.totals.values()].reduce((sum, each) => sum + each.calls, 0),
      50,
    );
    assert.deepEqual((await read(whole, { organization: "org_c" })).sums, {
      groups: [],
      isTruncated: false,
      totals: new Map(),
    });
  });

  test("counts calls that arrive late at once, and no longer those that are deleted", async () => {
    const query = { ...whole, model: "late" };
    const late = { endMs: startMs + 5 * hourMs, model: "late", costBillionths: 3 };
    await appendSpans(opened.store, "org_b", [late]);
    const costOf = async (): Promise<bigint[]> => {
      const { sums } = await read(query, { organization: "org_b" });
      return sums.groups.map(({ amounts }) => amounts.costBillionths);
    };
    assert.deepEqual(await costOf(), [3n]);
    await untilRolledUp(opened.store, { source: "spend", organizations: ["org_b"], withinMs: slowMs });
    assert.deepEqual(await costOf(), [3n]);
    const condition = sql`request_model = ${bind.text("late")}`;
    await opened.store.remove(scopeOf("org_b"), { table: "spans", condition, signal: AbortSignal.timeout(60_000) });
    assert.deepEqual(await costOf(), []);
  });
});
