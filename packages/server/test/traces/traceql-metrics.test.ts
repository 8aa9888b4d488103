/** TraceQL metrics over Tempo's HTTP API: the form of answers, times, tenants and hostile parameters. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { resourceSpans, type SpanSpec } from "./otlp-spans.ts";
import { startTempoServer, type TempoServer } from "./tempo-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const secondNano = 1_000_000_000n;
/** A whole ten minutes in the past. */
const endSeconds = Math.floor(Date.now() / 600_000) * 600;
const endNano = BigInt(endSeconds) * secondNano;

/** Twenty spans in the last twenty minutes, one a minute; every fourth failed. */
function spans(first: number): SpanSpec[] {
  return Array.from({ length: 20 }, (_, index) => ({
    traceId: (first + index).toString(16).padStart(32, "0"),
    spanId: (first + index).toString(16).padStart(16, "0"),
    name: "work",
    status: index % 4 === 0 ? 2 : 0,
    startNano: endNano - BigInt(index) * 60n * secondNano - 30n * secondNano,
    durationNano: BigInt(index + 1) * 100_000_000n,
    attributes: { "http.method": index % 2 === 0 ? "GET" : "PUT" },
  }));
}

let server: TempoServer;
beforeTests(async (stack) => {
  server = stack.use(await startTempoServer());
  await server.send([resourceSpans({ "service.name": "shop" }, { spans: spans(1) })]);
  await server.send([resourceSpans({ "service.name": "pay" }, { spans: spans(100).slice(0, 10) })], {
    project: "billing",
  });
  await server.send([resourceSpans({ "service.name": "secret" }, { spans: spans(1) })], { key: "org_b" });
});

const range = { start: String(endSeconds - 1200), end: String(endSeconds), step: "600" };

// oxlint-disable-next-line typescript/no-explicit-any -- answers of tests are looked into freely
async function query(path: string, parameters: Record<string, string>, key = "org_a"): Promise<any> {
  const answer = await server.get(`/api/metrics/${path}?${new URLSearchParams(parameters).toString()}`, { key });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

test("a range query has series with labels and samples", async () => {
  const { metrics, series } = await query("query_range", {
    ...range,
    q: "{ status = error } | count_over_time() by (resource.service.name)",
    exemplars: "2",
  });
  assert.deepEqual(Object.keys(metrics).sort(), [
    "completedJobs",
    "inspectedBytes",
    "inspectedSpans",
    "inspectedTraces",
    "totalJobs",
  ]);
  assert.deepEqual(
    series.map(({ labels, samples }: { labels: object; samples: { timestampMs: string; value: number }[] }) => [
      labels,
      samples
        .filter(({ value }) => value > 0)
        .map(({ timestampMs, value }) => [Number(timestampMs) / 1000 - endSeconds, value]),
    ]),
    [
      [[{ key: "resource.service.name", value: { stringValue: "pay" } }], [[0, 3]]],
      [
        [{ key: "resource.service.name", value: { stringValue: "shop" } }],
        [
          [-600, 2],
          [0, 3],
        ],
      ],
    ],
  );
  const exemplars = series.flatMap((each: { exemplars?: object[] }) => each.exemplars ?? []);
  assert.ok(exemplars.length > 0 && exemplars.length <= 2);
  for (const exemplar of exemplars) {
    assert.deepEqual(Object.keys(exemplar).sort(), ["labels", "timestampMs", "value"]);
    assert.ok(exemplar.labels.some(({ key }: { key: string }) => key === "trace:id"));
  }
});

test("an instant query has one value each; `query` is accepted for `q`", async () => {
  const { series, ...rest } = await query("query", {
    start: range.start,
    end: range.end,
    query: "{ resource.service.name = `shop` } | sum_over_time(duration) by (span.http.method)",
  });
  assert.deepEqual(Object.keys(rest), ["metrics"]);
  const values = series.map(({ labels, value }: { labels: { value: object }[]; value: number }) => [
    labels[0]!.value,
    Math.round(value * 10) / 10,
  ]);
  assert.deepEqual(values, [
    [{ stringValue: "GET" }, 10],
    [{ stringValue: "PUT" }, 11],
  ]);
});

test("times are seconds, nanoseconds, fractions or RFC 3339, or a length with `since`", async () => {
  const total = async (parameters: Record<string, string>): Promise<number> => {
    const { series } = await query("query", {
      q: "{ resource.service.name = `shop` } | count_over_time()",
      ...parameters,
    });
    return series[0]?.value ?? 0;
  };
  const rfc = (seconds: number) => new Date(seconds * 1000).toISOString();
  for (const [start, end] of [
    [range.start, range.end],
    [`${range.start}000000000`, `${range.end}000000000`],
    [`${range.start}.000`, `${range.end}.000`],
    [rfc(endSeconds - 1200), rfc(endSeconds)],
  ] as const)
    assert.equal(await total({ start, end }), 20, start);
  assert.equal(await total({ since: "10m", end: range.end }), 10);
  assert.equal(await total({ end: range.end }), 20);
});

test("histograms and quantiles of durations", async () => {
  const { series } = await query("query", {
    start: range.start,
    end: range.end,
    q: "{ resource.service.name = `shop` } | histogram_over_time(duration)",
  });
  assert.equal(
    series.reduce((sum: number, { value }: { value: number }) => sum + value, 0),
    20,
  );
  const quantiles = await query("query", {
    start: range.start,
    end: range.end,
    q: "{ resource.service.name = `shop` } | quantile_over_time(duration, 1)",
  });
  assert.ok(quantiles.series[0].value >= 2 && quantiles.series[0].value <= 2.2);
  const compared = await query("query_range", { ...range, q: "{} | compare({ status = error })" });
  assert.ok(JSON.stringify(compared.series).includes("span.http.method"));
});

test("a key bound to a project counts only its spans, and no key another organization's", async () => {
  const q = "{} | count_over_time() by (resource.service.name)";
  const counts = async (key: string) => {
    const { series } = await query("query", { start: range.start, end: range.end, q }, key);
    return series.map(({ labels, value }: { labels: { value: { stringValue: string } }[]; value: number }) => [
      labels[0]!.value.stringValue,
      value,
    ]);
  };
  assert.deepEqual(await counts("org_a"), [
    ["pay", 10],
    ["shop", 20],
  ]);
  assert.deepEqual(await counts("org_a:billing"), [["pay", 10]]);
  assert.deepEqual(await counts("org_b"), [["secret", 20]]);
  assert.deepEqual(await counts("org_c"), []);
});

test("hostile parameters are refused with 400", async () => {
  const q = "{} | rate()";
  const hostile = ["' OR 1=1 --", "\\", "\0", "%", "-1", "1e999", "NaN", "x".repeat(1000)];
  for (const text of hostile) {
    for (const name of ["q", "start", "end", "since", "step", "exemplars"]) {
      const answer = await server.get(
        `/api/metrics/query_range?${new URLSearchParams({ q, [name]: text }).toString()}`,
      );
      assert.equal(answer.status, 400, `${name}=${text}: ${answer.text}`);
      assert.match(answer.type, /^text\/plain/);
    }
  }
  for (const parameters of [
    {},
    { q: "{}" },
    { q, start: "2", end: "1" },
    { q, start: "1", end: "99999999", step: "1ns" },
    { q, step: "0" },
  ]) {
    const answer = await server.get(`/api/metrics/query_range?${new URLSearchParams(parameters as never).toString()}`);
    assert.equal(answer.status, 400, JSON.stringify(parameters));
  }
});
