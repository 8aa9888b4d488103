/** Lists of label names and values are those of the series, and are complete where there are more series than a list may have. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BlockWriter } from "../../src/store/block.ts";
import { metricTypes, series, temporalities } from "../../src/store/metric-tables.ts";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSeries, appendSpans, type SeriesRow } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const api = "/prometheus/api/v1";
const nowMs = Date.now();
const points = [{ timeMs: nowMs, value: 1 }];

/** Series whose labels come from everywhere: attributes that collide or join, resources, and metrics over spans. */
const examples: readonly SeriesRow[] = [
  ...Array.from({ length: 40 }, (_, index): SeriesRow => {
    const attributes = { "http.route": `/r/${index % 7}`, user: `u${index}`, ...(index % 3 === 0 ? { job: "j" } : {}) };
    const resource = { "service.name": `s${index % 4}`, "service.instance.id": `i${index % 5}`, "host.name": "h" };
    return { metric: `m${index % 3}`, type: "gauge", service: `s${index % 4}`, attributes, resource, points };
  }),
  { metric: "joined", type: "gauge", attributes: { "a.b": "1", a_b: "2", "a-b": "3" }, points },
  { metric: "reserved", type: "gauge", attributes: { project_name: "x", le: "1", organization_id: "o" }, points },
  {
    metric: "other",
    type: "sum",
    monotonic: true,
    unit: "1",
    project: "q",
    service: "",
    attributes: { only: "q" },
    points,
  },
  { metric: "rai_rejections", type: "sum", monotonic: true, attributes: { category: "hate/threat" }, points },
  {
    metric: "gen_ai.client.token.usage",
    type: "histogram",
    unit: "{token}",
    attributes: { "gen_ai.request.model": "gpt", "gen_ai.operation.name": "chat", "gen_ai.token.type": "input" },
    points: [{ timeMs: nowMs, count: 1, sum: 5, bounds: [1], counts: [0, 1] }],
  },
  ...(["default", "q"] as const).map((project): SeriesRow => ({
    metric: "work",
    type: "histogram",
    project,
    attributes: { le: "own", where: project },
    points: [
      { timeMs: nowMs - 10_000, count: 1, sum: 1, bounds: [1], counts: [1, 0] },
      { timeMs: nowMs, count: 1, sum: 1, bounds: project === "q" ? [7.5] : [0.25, 1], counts: [1, 0, 0] },
    ],
  })),
  ...["1", "2"].map((version): SeriesRow => ({
    metric: `written_${version}`,
    type: "gauge",
    unit: "{prometheus}",
    attributes: { "host.name": `h${version}`, host_name: "other", "a.b": "written", größe: "1", _own: "x" },
    points,
  })),
  { metric: "lag", type: "summary", points: [{ timeMs: nowMs, count: 1, sum: 1, quantiles: { 0.5: 1, 0.99: 2 } }] },
];

const selectors = [
  [],
  ["m1"],
  ["written_1"],
  ['{"host.name"="h1"}'],
  ['{__name__=~"written.*|m.*",host_name!=""}'],
  ['{job="s1"}'],
  ['{http_route=~"/r/[12]"}'],
  ['{service_name!="s1",user=~"u.*"}'],
  ['{__name__=~"m.*",exported_job="j"}', "joined"],
  ['{model_key="gpt"}'],
  ['{project_name="q"}'],
  ['{le="0.25"}'],
  ['{le="",project_name="q"}'],
  ['{quantile!=""}'],
  ['{__name__=~"work.*"}'],
  ['{__name__=~"inference_duration_seconds.*"}'],
  ["absent"],
];

let server: MetricsServer;
beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
  await appendSeries(server.store, "org_a", examples);
  await appendSpans(server.store, "org_a", [{ endMs: nowMs - 1000, model: "claude", service: "spans" }]);
  await appendSeries(server.store, "org_b", [
    { metric: "secret", type: "gauge", attributes: { "http.route": "/secret", hidden: "x" }, points },
  ]);
});

async function listOf<Item>(path: string, matches: readonly string[], key = "org_a"): Promise<Item[]> {
  const query = new URLSearchParams(matches.map((match): [string, string] => ["match[]", match]));
  const { body, status } = await server.get(`${api}/${path}?${query.toString()}`, key);
  assert.equal(status, 200, JSON.stringify(body));
  return (body as { data: Item[] }).data;
}

describe("the lists of label names and values", { timeout: 120_000 }, () => {
  for (const matches of selectors) {
    test(`have what the series have: ${matches.join(" and ") || "no selector"}`, async () => {
      const values = new Map<string, Set<string>>();
      // Series need a selector; this one selects all.
      const some = matches.length === 0 ? ['{__name__=~".+"}'] : matches;
      for (const labels of await listOf<Record<string, string>>("series", some)) {
        for (const [name, value] of Object.entries(labels)) {
          values.set(name, (values.get(name) ?? new Set()).add(value));
        }
      }
      assert.deepEqual(await listOf("labels", matches), [...values.keys()].sort());
      for (const name of [...values.keys(), "absent"]) {
        if (name === "__name__" && matches.length === 0) continue;
        const expected = [...(values.get(name) ?? [])].sort();
        assert.deepEqual(await listOf(`label/${name}/values`, matches), expected, name);
      }
    });
  }

  test("have the labels of buckets and quantiles, also of those in the points of one project only", async () => {
    assert.deepEqual(await listOf("label/le/values", ["work_bucket"]), ["+Inf", "0.25", "1", "7.5"]);
    assert.deepEqual(await listOf("label/le/values", ["work_bucket"], "org_a:q"), ["+Inf", "1", "7.5"]);
    assert.deepEqual(await listOf("label/le/values", ["work_count"]), ["own"]);
    assert.deepEqual(await listOf("label/quantile/values", []), ["0.5", "0.99"]);
    const buckets = await listOf<Record<string, string>>("series", ['{__name__="work_bucket",where="q"}']);
    assert.deepEqual(
      new Set(buckets.map(({ exported_le, le }) => `${exported_le} ${le}`)),
      new Set(["own +Inf", "own 1", "own 7.5"]),
    );
  });

  test("name every part of the metrics over spans that a selector finds", async () => {
    const names = await listOf<string>("label/__name__/values", ['{project_name="default",service_name="spans"}']);
    for (const part of ["bucket", "sum", "count"])
      assert.ok(names.includes(`inference_duration_seconds_${part}`), part);
  });

  test("have nothing of other organizations, nor of other projects for a key that is bound to one", async () => {
    assert.deepEqual(await listOf("label/http_route/values", [], "org_b"), ["/secret"]);
    assert.ok(!(await listOf("labels", [])).includes("hidden"));
    assert.deepEqual(await listOf("label/only/values", [], "org_a:q"), ["q"]);
    assert.deepEqual(await listOf("label/only/values", [], "org_a:default"), []);
    assert.ok(!(await listOf("labels", [], "org_a:q")).includes("http_route"));
  });
});

test("more series than a list may have do not keep the lists of their labels from being complete", async () => {
  const count = 100_001;
  const writer = new BlockWriter(series);
  for (let index = 0; index < count; index += 1) {
    const { columns } = writer;
    columns.organization.text("org_many");
    columns.project.text("default");
    columns.metric.text(`many_${index % 3}`);
    columns.series_id.bigint(BigInt(index + 1));
    columns.type.unsigned(metricTypes.gauge);
    columns.unit.text("");
    columns.temporality.unsigned(temporalities.unspecified);
    columns.monotonic.unsigned(0);
    columns.service.text(`s${index % 2}`);
    for (const [name, value] of Object.entries({ route: `/r/${index % 50}`, session: `session-${index}` })) {
      columns.attributes.keys.text(name);
      columns.attributes.values.text(value);
    }
    columns.attributes.end();
    columns.seen.unsigned(Math.floor(nowMs / 1000));
    columns.days.unsigned(30);
    writer.endRow();
  }
  await server.store.append({ organizationId: "org_many", table: "series", block: writer.finish(), rowCount: count });
  const expected = ["__name__", "project_name", "route", "service_name", "session"];
  assert.deepEqual(await listOf("labels", [], "org_many"), expected);
  assert.deepEqual(await listOf("labels", ['{service_name="s1"}'], "org_many"), expected);
  assert.equal((await listOf("label/route/values", [], "org_many")).length, 50);
  assert.deepEqual(await listOf("label/service_name/values", [], "org_many"), ["s0", "s1"]);
  assert.equal((await listOf("label/session/values", [], "org_many")).length, count);
  const matches = ['{route="/r/7",service_name="s1"}'];
  assert.equal((await listOf("label/session/values", matches, "org_many")).length, Math.floor(count / 50));
  assert.deepEqual(await listOf("label/__name__/values", matches, "org_many"), ["many_0", "many_1", "many_2"]);
  assert.equal((await server.get(`${api}/series?match[]={service_name=~"s."}`, "org_many")).status, 400);
});
