/** Queries that select more series and metrics than a statement can name, and requests that are too large. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSeries } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const nowMs = Math.floor(Date.now() / 60_000) * 60_000;
let server: MetricsServer;

beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
  const point = (value: number) => [{ timeMs: nowMs - 30_000, value }];
  const wide = Array.from({ length: 13_000 }, (_, index) => ({
    metric: "wide",
    type: "gauge" as const,
    attributes: { member: `m${index}` },
    points: point(1),
  }));
  const named = Array.from({ length: 15_000 }, (_, index) => ({
    metric: `deeply.nested.module.number_${index}.requests_in_flight`,
    type: "gauge" as const,
    points: point(1),
  }));
  await appendSeries(server.store, "org_a", wide);
  await appendSeries(server.store, "org_a", named);
});

async function count(query: string): Promise<unknown> {
  const answer = await server.post("/prometheus/api/v1/query", new URLSearchParams({ query }).toString());
  assert.equal(answer.status, 200, JSON.stringify(answer.body).slice(0, 500));
  return answer.body.data.result[0]?.value[1];
}

describe("more than a statement can name", () => {
  test("series of one metric are counted", async () => {
    assert.equal(await count("count(wide)"), "13000");
    assert.equal(await count('count(wide{member=~"m1.*"})'), "4111");
  });

  test("metrics are counted", async () => {
    assert.equal(await count('count({__name__=~"deeply_nested_.*"})'), "15000");
    assert.equal(await count('count({__name__=~"deeply_.*",__name__!~".*_1.*"})'), String(15_000 - numbersWithOne()));
  });

  test("series of metrics are listed", async () => {
    const form = new URLSearchParams({ "match[]": '{__name__=~"deeply_nested_.*"}' }).toString();
    const answer = await server.post("/prometheus/api/v1/series", form);
    assert.equal(answer.body.data.length, 15_000);
  });
});

/** Numbers below 15,000 that begin with a one. */
function numbersWithOne(): number {
  return Array.from({ length: 15_000 }, (_, index) => String(index)).filter((text) => text.startsWith("1")).length;
}

describe("requests that ask for too much at once", () => {
  test("2,000 selectors are refused", async () => {
    const form = Array.from({ length: 2000 }, (_, index) => `match[]=m${index}`).join("&");
    const answer = await server.post("/prometheus/api/v1/series", form);
    assert.equal(answer.status, 400);
    assert.match(answer.body.error, /more than 1000 parameters|the limit is 100/);
  });

  test("101 selectors are refused, but repetitions of one count once", async () => {
    const forms = [(index: number) => `m${index}`, () => "wide{member='m1'}"].map((make) =>
      Array.from({ length: 101 }, (_, index) => `match[]=${encodeURIComponent(make(index))}`).join("&"),
    );
    const different = await server.post("/prometheus/api/v1/series", forms[0]!);
    assert.equal(different.status, 400);
    assert.match(different.body.error, /match\[\] is sent 101 times; the limit is 100/);
    const same = await server.post("/prometheus/api/v1/series", forms[1]!);
    assert.equal(same.body.data.length, 1);
  });

  test("a form of 15 MB is refused", async () => {
    const answer = await server.post("/prometheus/api/v1/query", `query=${"(".repeat(15_000_000)}`);
    assert.equal(answer.status, 413);
    assert.equal(answer.body.status, "error");
  });
});
