/** Metrics over spans are the same from sums of calls by minute and hour as from spans, whatever is written twice or late. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { queryInstant, queryRange } from "@sounding/promql/engine";
import type { MatrixSeries } from "@sounding/promql/query-value";
import { parseExpression } from "@sounding/promql/syntax/parse";
import { namedLabels } from "../../src/query/metrics/named-labels.ts";
import { createTenantMetrics, type TenantMetrics } from "../../src/query/metrics/tenant-metrics.ts";
import { sql } from "../../src/store/statement.ts";
import type { TenantReader } from "../../src/store/store.ts";
import { openTestStore, scopeOf, type TestStore } from "../store/test-store.ts";
import { untilRolledUp } from "../support/rolled-up.ts";
import { appendSpans, type SpanRow } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const minuteMs = 60_000;
const hourMs = 3_600_000;
const hours = 8;
/** The last hours are over, with a margin in which calls can depend on later spans. */
const endMs = Math.floor((Date.now() - 10 * minuteMs) / hourMs) * hourMs;
const startMs = endMs - hours * hourMs;

/** Spans of every kind, some exactly at the ends of minutes and hours; half of the model calls are reported twice. */
function spansUntil(hour: number, count: number, seed: number): SpanRow[] {
  let state = seed;
  const random = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  const untilMs = startMs + hour * hourMs;
  const end = (): number => {
    const anywhere = startMs + random(untilMs - startMs);
    if (random(8) > 0) return anywhere + random(1000) / 1000;
    const unitMs = random(2) === 0 ? minuteMs : hourMs;
    return Math.floor(anywhere / unitMs) * unitMs + (random(3) - 1) / 2;
  };
  return Array.from({ length: count }, (_, index): SpanRow[] => {
    const operation = ["chat", "chat", "embeddings", "speech", "transcription", "invoke_agent", "execute_tool", ""][
      random(8)
    ]!;
    const isCall = ["chat", "embeddings", "speech", "transcription"].includes(operation);
    const span: SpanRow = {
      endMs: end(),
      // Some take hours, some longer than a day, and clocks differ.
      durationMs: random(20) === 0 ? [7_200_000, 100_000_000, -250, -400_000][random(4)]! : 1 + random(20_000),
      project: `project-${random(2)}`,
      service: ["edge", "worker"][random(2)]!,
      operation,
      model: ["gpt", "llama", ""][random(3)]!,
      provider: ["openai", ""][random(2)]!,
      agentName: ["ada", "bob", ""][random(3)]!,
      agentClass: ["Planner", ""][random(2)]!,
      sessionId: `s${random(5)}`,
      inputTokens: isCall ? random(1000) : 0,
      outputTokens: isCall ? random(100) : 0,
      ...(isCall && random(2) === 0 ? { costBillionths: random(2_000_000_000) } : {}),
      attributes: {
        ...(operation === "chat" ? { "gen_ai.response.time_to_first_chunk": String(random(3000) / 1000) } : {}),
        ...(operation === "execute_tool" ? { "gen_ai.tool.name": ["search", "calculator"][random(2)]! } : {}),
        ...(operation === "speech"
          ? {
              "sounding.speech.characters": String(random(400)),
              "sounding.speech.time_to_first_audio": String(random(500) / 1000),
              "gen_ai.request.voice": ["slt", "rms"][random(2)]!,
            }
          : {}),
        ...(operation === "transcription" ? { "sounding.audio.duration": String(random(90)) } : {}),
        ...(random(4) === 0 ? { category: ["violence/graphic", "harassment"][random(2)]! } : {}),
      },
      ...(random(5) === 0 ? { errorType: ["content_filter", "timeout", "500"][random(3)]! } : {}),
    };
    if (!isCall || random(2) === 0) return [span];
    // The same call, reported by Sounding and by an application up to five minutes earlier or later.
    const keys = { responseKey: BigInt(seed) * 1_000_000n + BigInt(index) };
    return [
      { ...span, ...keys, served: true, agentName: "", service: "sounding" },
      { ...span, ...keys, endMs: span.endMs + (random(590_000) - 295_000) },
    ];
  }).flat();
}

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore({ settings: { rollup_delay_ms: 1 } }));
  await appendSpans(opened.store, "org_a", spansUntil(hours, 1500, 7), 2);
  await appendSpans(opened.store, "org_b", spansUntil(4, 200, 8));
  await untilRolledUp(opened.store, { source: "calls", organizations: ["org_a", "org_b"] });
});

type SumsTable = "call_minutes" | "call_hours";

/** The same metrics from sums and from spans, and which tables of sums were read. */
function bothMetrics(query: string, organizationId: string, project: string | undefined) {
  const reader = opened.store.open(scopeOf(organizationId));
  const tables: SumsTable[] = [];
  const noting: TenantReader = {
    ...reader,
    query: (statement, options) => {
      const { text } = statement.render();
      for (const table of ["call_minutes", "call_hours"] as const)
        if (text.includes(`FROM ${table}`)) tables.push(table);
      return reader.query(statement, options);
    },
  };
  const metricsOf = (from: TenantReader): TenantMetrics =>
    createTenantMetrics({ reader: from, project, namedLabels: namedLabels(parseExpression(query)) });
  return { ofSums: metricsOf(noting), ofSpans: metricsOf({ ...reader, usesRollups: false }), tables };
}

interface Compared {
  readonly startMs?: number;
  readonly endMs?: number;
  /** Absent: an instant query at the end. */
  readonly stepMs?: number | undefined;
  readonly organizationId?: string;
  readonly project?: string;
  readonly mayBeEmpty?: boolean;
}

/** @returns the tables of sums that were read */
async function assertSame(query: string, compared: Compared = {}): Promise<readonly SumsTable[]> {
  const { mayBeEmpty, organizationId = "org_a", project, ...times } = compared;
  const { ofSpans, ofSums, tables } = bothMetrics(query, organizationId, project);
  const evaluate = async (metrics: TenantMetrics): Promise<unknown[]> => {
    const { stepMs = minuteMs * 15, ...range } = { startMs: startMs + hourMs, endMs, ...times };
    if ("stepMs" in compared && compared.stepMs === undefined) {
      const { value } = await queryInstant(metrics, { query, timeMs: range.endMs });
      assert.ok(value.type === "vector");
      return value.samples.map(({ labels, value: number }) => [labels.key, rounded(number)]).sort(byKey);
    }
    const { value } = await queryRange(metrics, { query, stepMs, ...range });
    assert.ok(value.type === "matrix");
    return value.series
      .map(({ labels, timestampsMs, values }: MatrixSeries) => [
        labels.key,
        [...timestampsMs],
        [...values].map(rounded),
      ])
      .sort(byKey);
  };
  const found = await evaluate(ofSums);
  if (mayBeEmpty !== true) assert.ok(found.length > 0, "something was found");
  assert.deepEqual(found, await evaluate(ofSpans));
  return tables;
}

function byKey([left]: readonly unknown[], [right]: readonly unknown[]): number {
  return String(left) < String(right) ? -1 : 1;
}

/** Sums of fractions depend on their order in the last digits. */
function rounded(value: number): number {
  return Number(value.toPrecision(11));
}

describe("sums of calls equal the spans", () => {
  for (const query of [
    "sum(increase(inference_requests_total[1h]))",
    "sum by (model_key) (rate(inference_requests_total[30m]))",
    "sum by (service_name, status) (increase(inference_requests_total[15m]))",
    'sum by (project_name) (increase(inference_requests_total{status!="success", provider=~"open.*"}[1h]))',
    "sum by (service_name, agent_name, agent_class) (increase(inference_requests_total[15m]))",
    'sum by (operation) (increase(inference_requests_total{agent_name="ada"}[2h]))',
    "sum by (le) (rate(inference_duration_seconds_bucket[15m]))",
    "histogram_quantile(0.9, sum by (le, model_key) (rate(inference_duration_seconds_bucket[1h])))",
    "sum(increase(inference_duration_seconds_sum[15m])) / sum(increase(inference_duration_seconds_count[15m]))",
    "sum by (le) (rate(inference_time_to_first_token_seconds_bucket[15m]))",
    "sum by (model_key) (increase(inference_time_to_first_token_seconds_sum[15m]))",
    "sum by (model_key) (increase(inference_time_to_first_token_seconds_count[15m]))",
    "sum by (model_key, agent_class, token_type) (increase(token_usage_total[15m]))",
    "sum by (model_key) (increase(inference_cost_total[15m]))",
    "sum by (model_key, token_type) (increase(unpriced_token_usage_total[15m]))",
    'sum by (status) (increase(agent_tasks_total{agent_name!=""}[15m]))',
    "sum by (agent_name, le) (increase(agent_duration_seconds_bucket[1h]))",
    "sum by (agent_name, tool_name, status) (increase(agent_tool_calls_total[15m]))",
    "count(sum by (agent_name) (increase(agent_tasks_total[15m])) > 0)",
    "count(sum by (model_key, service_name) (increase(inference_requests_total[1h])) > 0)",
    "sum by (category) (increase(rai_rejections_total[15m]))",
    "sum by (model_key, voice) (increase(speech_characters_total[15m]))",
    "sum by (le) (rate(speech_time_to_first_audio_seconds_bucket[15m]))",
    "sum by (model_key) (increase(transcription_audio_seconds_total[15m]))",
    "sum by (model_key) (increase(transcription_processing_seconds_total[15m]))",
  ]) {
    test(query, async () => {
      assert.ok((await assertSame(query)).includes("call_minutes"));
      assert.ok((await assertSame(query, { stepMs: hourMs * 2 })).length > 0);
    });
  }
});

describe("which sums are read", () => {
  const query = "sum by (model_key) (increase(inference_requests_total[1h]))";

  test("by hour where every window is of whole hours, or where there is only one", async () => {
    assert.deepEqual(await assertSame(query, { stepMs: hourMs }), ["call_hours"]);
    const ofDay = "sum by (agent_name) (increase(inference_requests_total[7h]))";
    assert.deepEqual(await assertSame(ofDay, { stepMs: undefined, endMs: endMs - 1_234_567 }), ["call_hours"]);
  });

  test("none for times between minutes, for labels that sums do not have, and for short ranges", async () => {
    assert.deepEqual(await assertSame(query, { startMs: startMs + 1, stepMs: hourMs }), []);
    assert.deepEqual(await assertSame("sum by (session_id) (increase(inference_requests_total[1h]))"), []);
    assert.deepEqual(await assertSame('sum(increase(inference_requests_total{session_id="s1"}[1h]))'), []);
    assert.deepEqual(await assertSame("sum(increase(session_requests_total[1h]))"), []);
    assert.deepEqual(await assertSame(query, { startMs: endMs - 15 * minuteMs }), []);
  });

  test("only those of the organization and the project", async () => {
    await assertSame(query, { organizationId: "org_b" });
    await assertSame(query, { project: "project-1" });
    assert.deepEqual(
      await assertSame(query, { organizationId: "org_c", mayBeEmpty: true }),
      [],
      "an organization without spans",
    );
  });
});

test("late spans, and late reports of counted calls, count at once and are summed later", async () => {
  const query = "sum by (service_name, agent_name) (increase(inference_requests_total[30m]))";
  await appendSpans(opened.store, "org_a", spansUntil(3, 100, 9), 2);
  await assertSame(query);
  await untilRolledUp(opened.store, { source: "calls", organizations: ["org_a"] });
  assert.ok((await assertSame(query)).length > 0);
  // Sounding's own span of a call arrives after the hour with the application's span was summed, and hides it.
  const keys = { responseKey: 424_242n };
  const edgeMs = startMs + 5 * hourMs;
  await appendSpans(opened.store, "org_a", [{ endMs: edgeMs - 1000, service: "late", agentName: "ada", ...keys }]);
  await untilRolledUp(opened.store, { source: "calls", organizations: ["org_a"] });
  await appendSpans(opened.store, "org_a", [{ endMs: edgeMs + 1000, served: true, service: "sounding", ...keys }]);
  await assertSame(query);
  await untilRolledUp(opened.store, { source: "calls", organizations: ["org_a"] });
  assert.ok((await assertSame(query)).length > 0);
});

test("deleted spans no longer count, and the sums of other hours stay valid", async () => {
  const query = "sum by (service_name) (increase(inference_requests_total[30m]))";
  const samples = [1, 3].map((hour): SpanRow => ({ endMs: startMs + hour * hourMs - 1000, service: "sample" }));
  await appendSpans(opened.store, "org_b", samples);
  await untilRolledUp(opened.store, { source: "calls", organizations: ["org_b"] });
  const withSamples = await seriesCount(query);
  const condition = sql`service = 'sample'`;
  await opened.store.remove(scopeOf("org_b"), { table: "spans", condition, signal: AbortSignal.timeout(60_000) });
  assert.ok((await assertSame(query, { organizationId: "org_b" })).length > 0);
  assert.equal(await seriesCount(query), withSamples - 1);
  await untilRolledUp(opened.store, { source: "calls", organizations: ["org_b"] });
  await assertSame(query, { organizationId: "org_b" });
});

async function seriesCount(query: string): Promise<number> {
  const { value } = await queryInstant(bothMetrics(query.replace("30m", "8h"), "org_b", undefined).ofSums, {
    query: query.replace("30m", "8h"),
    timeMs: endMs,
  });
  assert.ok(value.type === "vector");
  return value.samples.length;
}
