/** Selectors without a name read the metrics over spans together, with few statements, and find the same as one query for each name. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { spanSeriesNames } from "../../src/query/metrics/span-series/span-metrics.ts";
import type { Store } from "../../src/store/store.ts";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSeries, appendSpans, type SpanRow } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const nowMs = Math.floor(Date.now() / 60_000) * 60_000 - 60_000;
let server: MetricsServer;
let statements = 0;

/** Calls of every kind; some are reported twice, some have no tokens, no session or no service above them. */
const calls: readonly SpanRow[] = [
  { endMs: nowMs - 1000, model: "gpt", inputTokens: 5, sessionId: "s1", attributes: { tag: "a" } },
  { endMs: nowMs - 1000, model: "gpt", outputTokens: 5, served: true, responseKey: 7n, project: "q" },
  { endMs: nowMs - 1001, model: "gpt", service: "caller", agentName: "ada", responseKey: 7n, project: "q" },
  { endMs: nowMs - 1000, model: "llama", costBillionths: 12, errorType: "content_filter", sessionId: "s2" },
  { endMs: nowMs - 1000, operation: "invoke_agent", agentName: "bob", durationMs: 5000 },
  { endMs: nowMs - 1000, operation: "execute_tool", attributes: { "gen_ai.tool.name": "search" } },
  { endMs: nowMs - 1000, attributes: { "gen_ai.response.time_to_first_chunk": "0.5" } },
  { endMs: nowMs - 1000, operation: "speech", attributes: { "sounding.speech.characters": "9" }, project: "q" },
  { endMs: nowMs - 1000, operation: "", kind: 2, service: "web", name: "GET /", sessionId: "s3" },
  { endMs: nowMs - 1000, operation: "", kind: 3, service: "web", attributes: { "db.system": "pg" }, project: "q" },
  { endMs: nowMs - 90_000_000, operation: "transcription", attributes: { "sounding.audio.duration": "3" } },
];

beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
  await appendSpans(server.store, "org_a", calls);
  const points = [{ timeMs: nowMs, value: 1 }];
  await appendSeries(server.store, "org_a", [{ metric: "sent", type: "gauge", points }]);
  await appendSeries(server.store, "org_b", [{ metric: "sent", type: "gauge", points }]);
  const store: { open: Store["open"] } = server.store;
  const open = store.open.bind(store);
  store.open = (scope, ...rest) => {
    const reader = open(scope, ...rest);
    const query = reader.query.bind(reader);
    return Object.assign(Object.create(reader) as typeof reader, {
      query: (...given: Parameters<typeof query>) => {
        statements += 1;
        return query(...given);
      },
    });
  };
});

async function get<Data>(path: string, parameters: Record<string, string>, key = "org_a"): Promise<Data> {
  const { body, status } = await server.get(
    `/prometheus/api/v1/${path}?${new URLSearchParams(parameters).toString()}`,
    key,
  );
  assert.equal(status, 200, JSON.stringify(body));
  return (body as { data: Data }).data;
}

type Labels = Readonly<Record<string, string>>;
interface Sample {
  readonly metric: Labels;
  readonly value: [number, string];
}

const inOrder = (items: readonly unknown[]): string[] => items.map((item) => JSON.stringify(item)).toSorted();
const all = '__name__=~".+"';
const selectors = ["", 'project_name="q"', 'service_name="caller"', 'session_id=~"s.*"', 'status!="success"'];

describe("a selector without a name", { timeout: 120_000 }, () => {
  for (const selector of selectors) {
    const each = ["sent", ...new Set(spanSeriesNames.map(({ name }) => name))].map((name) =>
      [`__name__="${name}"`, selector].filter((part) => part !== "").join(","),
    );
    const together = [all, selector].filter((part) => part !== "").join(",");

    test(`has the samples of every name: {${together}}`, async () => {
      const time = String(nowMs / 1000);
      const counted = await get<{ result: Sample[] }>("query", {
        query: `sort_by_label(count by (__name__) ({${together}}), "__name__")`,
        time,
      });
      const singly: [string, string][] = [];
      for (const one of each) {
        const { result } = await get<{ result: Sample[] }>("query", { query: `count({${one}})`, time });
        if (result[0] !== undefined) singly.push([/__name__="([^"]*)"/.exec(one)![1]!, result[0].value[1]]);
      }
      assert.deepEqual(
        inOrder(counted.result.map(({ metric, value }) => [metric["__name__"], value[1]])),
        inOrder(singly),
      );
    });

    test(`has the series of every name: {${together}}`, async () => {
      const expected: Labels[] = [];
      for (const one of each) expected.push(...(await get<Labels[]>("series", { "match[]": `{${one}}` })));
      const found = await get<Labels[]>("series", { "match[]": `{${together}}` });
      assert.deepEqual(inOrder(found), inOrder(expected));
      const names = await get<string[]>("label/__name__/values", { "match[]": `{${together}}` });
      assert.deepEqual(names, [...new Set(expected.map(({ __name__: name }) => name!))].toSorted());
      const types = await get<string[]>("label/token_type/values", { "match[]": `{${together}}` });
      assert.deepEqual(types, [...new Set(expected.flatMap(({ token_type: type }) => type ?? []))].toSorted());
    });
  }

  for (const [what, read] of [
    ["query", () => get("query", { query: `{${all}}` }, "org_b")],
    ["list of series", () => get("series", { "match[]": `{${all}}` }, "org_b")],
    ["list of labels", () => get("labels", {}, "org_b")],
  ] as const) {
    test(`takes few statements where there are no spans: ${what}`, async () => {
      statements = 0;
      await read();
      assert.ok(statements > 0 && statements <= 8, `${statements} statements`);
    });
  }

  test("takes few statements for the names of a project's metrics", async () => {
    statements = 0;
    const names = await get<string[]>("label/__name__/values", { "match[]": '{project_name="default"}' });
    assert.ok(names.length > 20, String(names));
    assert.ok(statements <= 12, `${statements} statements`);
  });
});
