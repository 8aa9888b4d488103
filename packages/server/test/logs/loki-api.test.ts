import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { appendLogs, type LogRecord } from "./log-records.ts";
import { startLokiServer, type Json, type LokiServer } from "./loki-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const second = 1_000_000_000n;
const minute = 60n * second;
/** The newest entry is a minute old. */
const endNano = (BigInt(Date.now()) / 60_000n) * minute;
const range = { start: String(endNano - 60n * minute), end: String(endNano) };

const checkout = { id: 1n, attributes: { "k8s.namespace.name": "shop", "host.arch": "arm64" } };
const records: LogRecord[] = Array.from({ length: 40 }, (_, index) => ({
  unixNano: endNano - BigInt(index + 1) * minute,
  recordId: BigInt(index + 1),
  service: index % 4 === 0 ? "billing" : "checkout",
  severityNumber: index % 5 === 0 ? 17 : 9,
  body: `GET /cart/${index} status=${index % 3 === 0 ? 500 : 200} took=${index}ms`,
  traceId: index === 1 ? "0af7651916cd43dd8448eb211c80319c" : "",
  attributes: { "http.route": "/cart/{id}" },
  resource: checkout,
}));

let server: LokiServer;
beforeTests(async (stack) => {
  server = stack.use(await startLokiServer());
  await appendLogs(server.store, "org_a", records);
});

async function found(path: string, parameters: Record<string, string> = {}, headers = {}): Promise<Json> {
  const { body, status } = await server.get(path, { ...range, ...parameters }, "org_a", headers);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

async function refused(path: string, parameters: Record<string, string>): Promise<string> {
  const { body, status } = await server.get(path, parameters);
  assert.equal(status, 400, JSON.stringify(body));
  assert.deepEqual([body.status, body.code], ["error", 400]);
  return body.message;
}

function compareNanos(left: bigint, right: bigint): number {
  return Number(left - right);
}

describe("query", () => {
  test("passes the health check of Grafana's data source", async () => {
    const { body } = await server.get("query", {
      query: "vector(1)+vector(1)",
      direction: "backward",
      time: "4000000000",
    });
    assert.equal(body.status, "success");
    assert.equal(body.data.resultType, "vector");
    assert.deepEqual(body.data.result, [{ metric: {}, value: [4_000_000_000, "2"] }]);
  });

  test("evaluates a metric query, also from a form, and writes values without exponents", async () => {
    const query = 'sum by (service_name) (count_over_time({service_name=~".+"}[1h]))';
    const { data } = await found("query", { query, time: range.end });
    const expected = [
      { metric: { service_name: "billing" }, value: [Number(endNano / second), "10"] },
      { metric: { service_name: "checkout" }, value: [Number(endNano / second), "30"] },
    ];
    assert.deepEqual(data.result, expected);
    const { body } = await server.post("query", new URLSearchParams({ query, time: range.end }).toString());
    assert.deepEqual(body.data.result, expected);
    const large = await found("query", { query: "vector(1e21)+vector(1)", time: range.end });
    assert.equal(large.data.result[0].value[1], "1000000000000000000000");
  });

  test("refuses a log query and a query that does not parse", async () => {
    assert.match(await refused("query", { query: '{a="b"}' }), /log queries are not supported as an instant query/);
    assert.match(await refused("query", { query: "sum(" }), /parse error/);
    assert.match(await refused("query", {}), /query is missing/);
  });
});

describe("query_range", () => {
  const query = '{service_name="checkout"} |= "status=500"';

  test("returns the newest entries with all labels in the stream", async () => {
    const { data } = await found("query_range", { query: '{service_name="checkout"}', limit: "1" });
    assert.equal(data.resultType, "streams");
    assert.equal(data.encodingFlags, undefined);
    assert.deepEqual(data.result, [
      {
        stream: {
          detected_level: "info",
          host_arch: "arm64",
          http_route: "/cart/{id}",
          k8s_namespace_name: "shop",
          level: "info",
          project_name: "default",
          service_name: "checkout",
          trace_id: "0af7651916cd43dd8448eb211c80319c",
        },
        values: [[String(endNano - 2n * minute), "GET /cart/1 status=200 took=1ms"]],
      },
    ]);
    assert.deepEqual(
      ["totalLinesProcessed", "totalBytesProcessed", "totalEntriesReturned", "execTime"].map(
        (name) => typeof data.stats.summary[name],
      ),
      ["number", "number", "number", "number"],
    );
    assert.equal(data.stats.summary.totalEntriesReturned, 1);
  });

  test("separates labels by where they came from if the client asks for it", async () => {
    const { data } = await found(
      "query_range",
      { query: `${query} | logfmt | drop __error__`, limit: "1" },
      { "x-loki-response-encoding-flags": "categorize-labels" },
    );
    assert.deepEqual(data.encodingFlags, ["categorize-labels"]);
    const [{ stream, values }] = data.result;
    assert.equal(stream.service_name, "checkout");
    assert.equal(stream.http_route, undefined);
    const [, , labels] = values[0];
    assert.deepEqual(labels.structuredMetadata, { host_arch: "arm64", http_route: "/cart/{id}" });
    assert.deepEqual([labels.parsed.status, labels.parsed.took], ["500", "3ms"]);
  });

  test("respects limit, direction and interval", async () => {
    const times = async (parameters: Record<string, string>): Promise<bigint[]> => {
      const { data } = await found("query_range", { query: '{service_name=~".+"}', ...parameters });
      return data.result.flatMap(({ values }: Json) => values.map(([time]: [string]) => BigInt(time)));
    };
    const all = await times({ limit: "1000" });
    assert.equal(all.length, 40);
    const newest = await times({ limit: "2" });
    assert.deepEqual(newest.toSorted(compareNanos), [endNano - 2n * minute, endNano - minute]);
    const oldest = await times({ limit: "2", direction: "FORWARD" });
    assert.deepEqual(oldest.toSorted(compareNanos), [endNano - 40n * minute, endNano - 39n * minute]);
    assert.equal((await times({ interval: "10m", limit: "1000" })).length, 4);
  });

  test("evaluates a metric query at the steps, by default 250 of them", async () => {
    const metric = 'sum(count_over_time({service_name=~".+"}[10m]))';
    const categorized = { "x-loki-response-encoding-flags": "categorize-labels" };
    const { data } = await found("query_range", { query: metric, step: "600000ms" }, categorized);
    assert.equal(data.resultType, "matrix");
    assert.equal(data.encodingFlags, undefined);
    // Steps are multiples of their length, as from Loki's query frontend; an entry a minute falls into each window.
    const time = (Math.floor(Number(endNano / second) / 600) - 1) * 600;
    const samples = new Map<number, string>(data.result[0].values);
    assert.equal(samples.get(time), "10");
    const byDefault = await found("query_range", { query: "vector(1)" });
    const steps = byDefault.data.result[0].values.length;
    assert.ok(steps >= 258 && steps <= 260, String(steps));
  });

  test("reads times in nanoseconds, seconds, fractions and RFC 3339 alike", async () => {
    const from = endNano - 5n * minute;
    const seconds = Number(from / second);
    const forms = [String(from), String(seconds), `${seconds}.0`, new Date(seconds * 1000).toISOString()];
    const answers = await Promise.all(
      forms.map(async (start) => (await found("query_range", { query: '{service_name=~".+"}', start })).data.result),
    );
    assert.equal(answers[0].flatMap(({ values }: Json) => values).length, 5);
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
  });

  test("reads since only if there is no start, and refuses a reversed range", async () => {
    const { body } = await server.get("query_range", { query: '{service_name=~".+"}', end: range.end, since: "5m" });
    assert.equal(body.data.result.flatMap(({ values }: Json) => values).length, 5);
    assert.match(await refused("query_range", { query: '{a="b"}', start: "200", end: "100" }), /end is before start/);
  });

  test("refuses bad parameters by their names", async () => {
    const bad: Record<string, string> = {
      start: "soon",
      end: "99999999999999999999999",
      since: "-1h",
      step: "0",
      interval: "-1s",
      limit: "0",
      direction: "up",
    };
    for (const [name, value] of Object.entries(bad)) {
      const message = await refused("query_range", { query: '{a="b"}', [name]: value });
      assert.match(message, new RegExp(name), value);
    }
    assert.match(await refused("query_range", { query: '{a="b"}', limit: "5001" }), /max entries limit/);
    assert.match(await refused("query_range", { query: "{}" }), /at least one/i);
  });
});

describe("streams", () => {
  test("labels, and label at the older path", async () => {
    const names = ["detected_level", "k8s_namespace_name", "level", "project_name", "service_name"];
    assert.deepEqual(await found("labels"), { status: "success", data: names });
    assert.deepEqual((await found("label")).data, names);
    assert.deepEqual((await found("labels", { query: '{service_name="none"}' })).data, []);
  });

  test("label values", async () => {
    assert.deepEqual((await found("label/service_name/values")).data, ["billing", "checkout"]);
    const errors = await found("label/service_name/values", { query: '{level="error",service_name!="billing"}' });
    assert.deepEqual(errors.data, ["checkout"]);
    assert.deepEqual((await found("label/none/values")).data, []);
  });

  test("series of one or several selectors, or all", async () => {
    assert.equal((await found("series")).data.length, 4);
    assert.equal((await found("series", { "match[]": "{}" })).data.length, 4);
    const { data } = await found("series", { match: '{service_name="billing",level="error"}' });
    assert.deepEqual(data, [
      {
        detected_level: "error",
        k8s_namespace_name: "shop",
        level: "error",
        project_name: "default",
        service_name: "billing",
      },
    ]);
    const form = new URLSearchParams([
      ...Object.entries(range),
      ["match[]", '{level="error"}'],
      ["match[]", '{level="info"}'],
    ]);
    assert.equal((await server.post("series", form.toString())).body.data.length, 4);
    assert.match(await refused("series", { "match[]": '{a="b"} |= "c"' }), /not only a stream selector/);
  });

  test("statistics of a selector", async () => {
    const stats = await found("index/stats", { query: '{service_name="billing"}' });
    assert.deepEqual(Object.keys(stats), ["streams", "chunks", "entries", "bytes"]);
    assert.deepEqual([stats.streams, stats.entries], [2, 10]);
    assert.ok(stats.bytes > 200);
  });

  test("detected labels, without those whose values are all IDs", async () => {
    const { detectedLabels } = await found("detected_labels");
    assert.deepEqual(
      detectedLabels.find(({ label }: Json) => label === "service_name"),
      { label: "service_name", cardinality: 2 },
    );
    const resource = { id: 7n, isPushed: true, attributes: { app: "a", run: "12345", pod: "7", flag: "1" } };
    await appendLogs(server.store, "org_ids", [{ unixNano: endNano - minute, recordId: 1n, body: "x", resource }]);
    const { body } = await server.get("detected_labels", range, "org_ids");
    const labels = new Set(body.detectedLabels.map(({ label }: Json) => label));
    assert.deepEqual(
      ["app", "flag", "pod", "run"].map((name) => labels.has(name)),
      [true, true, true, false],
    );
  });
});

describe("volume", () => {
  test("sums bytes by the selector's labels, the largest first", async () => {
    const { data } = await found("index/volume", { query: '{service_name=~".+"}' });
    assert.equal(data.resultType, "vector");
    assert.deepEqual(
      data.result.map(({ metric }: Json) => metric),
      [{ service_name: "checkout" }, { service_name: "billing" }],
    );
    const [time, bytes] = data.result[0].value;
    assert.equal(time, Number(endNano / second));
    assert.ok(Number(bytes) > 900);
    assert.equal((await found("index/volume", { query: "{}", limit: "1" })).data.result.length, 1);
  });

  test("sums by target labels, and by the names of labels", async () => {
    const byLevel = await found("index/volume", {
      query: '{service_name="checkout"}',
      targetLabels: "level,project_name",
    });
    assert.deepEqual(
      byLevel.data.result.map(({ metric }: Json) => metric),
      [
        { level: "info", project_name: "default" },
        { level: "error", project_name: "default" },
      ],
    );
    const names = await found("index/volume", { query: "{}", aggregateBy: "labels" });
    assert.ok(names.data.result.some(({ metric }: Json) => metric.service_name === ""));
    const missing = await found("index/volume", { query: "{}", targetLabels: "none" });
    assert.deepEqual(missing.data.result, []);
    assert.match(await refused("index/volume", { query: "{}", aggregateBy: "x" }), /aggregateBy/);
  });

  test("sums by steps, which add up to the whole", async () => {
    const { data } = await found("index/volume_range", { query: '{service_name=~".+"}', step: "7m" });
    assert.equal(data.resultType, "matrix");
    const whole = await found("index/volume", { query: '{service_name=~".+"}' });
    for (const [index, { metric, values }] of data.result.entries()) {
      assert.deepEqual(metric, whole.data.result[index].metric);
      const sum = values.reduce((total: number, [, bytes]: [number, string]) => total + Number(bytes), 0);
      assert.equal(String(sum), whole.data.result[index].value[1]);
      for (const [time] of values.slice(0, -1)) assert.equal(time % 420, 0);
    }
    assert.match(
      await refused("index/volume_range", { query: "{}", start: "1", end: "99999999", step: "1s" }),
      /11000 points/,
    );
  });
});

describe("other endpoints", () => {
  test("format_query formats, and refuses what does not parse", async () => {
    const { data, status } = await found("format_query", { query: 'sum(rate({a="b"}[5m]))by(c)' });
    assert.equal(status, "success");
    assert.match(data, /^sum by \(c\)/);
    assert.match(await refused("format_query", { query: "{" }), /parse error/);
  });

  test("buildinfo, drilldown-limits, rules and ready answer what clients look for", async () => {
    assert.match((await found("status/buildinfo")).version, /^3\./);
    const { limits, pattern_ingester_enabled: patterns, version } = await found("drilldown-limits");
    assert.deepEqual([patterns, typeof version, limits.volume_enabled], [true, "string", true]);
    assert.deepEqual(await found("rules"), {});
    const ready = await fetch(`${server.url}/ready`);
    assert.deepEqual([ready.status, await ready.text()], [200, "ready\n"]);
  });

  test("errors have Loki's form, also for unknown paths and wrong keys", async () => {
    const unknown = await fetch(`${server.url}/loki/api/v1/nothing`, { headers: { authorization: "Bearer sk-org_a" } });
    assert.equal(unknown.status, 404);
    assert.match(((await unknown.json()) as { message: string }).message, /does not exist/);
    const wrong = await fetch(`${server.url}/loki/api/v1/labels`);
    assert.equal(wrong.status, 401);
    assert.equal(typeof ((await wrong.json()) as { message: string }).message, "string");
    const basic = await fetch(`${server.url}/loki/api/v1/labels`, {
      headers: { authorization: `Basic ${Buffer.from("any:sk-org_a").toString("base64")}`, "x-scope-orgid": "org_b" },
    });
    assert.equal(basic.status, 200);
  });

  test("a long result is streamed whole", async () => {
    const many = Array.from({ length: 3000 }, (_, index) => ({
      unixNano: endNano - BigInt(index + 1) * 1_000_000n,
      recordId: BigInt(index + 1),
      service: `s${index % 20}`,
      body: `line ${index} ${"x".repeat(200)}`,
    }));
    await appendLogs(server.store, "org_many", many);
    const { body } = await server.get(
      "query_range",
      { ...range, query: '{service_name=~".+"}', limit: "5000" },
      "org_many",
    );
    assert.equal(body.data.result.length, 20);
    assert.equal(body.data.result.flatMap(({ values }: Json) => values).length, 3000);
  });
});
