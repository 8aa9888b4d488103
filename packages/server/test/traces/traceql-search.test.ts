/** TraceQL searches over Tempo's HTTP API: what is found, in which form, of whom; and hostile parameters. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { resourceSpans } from "./otlp-spans.ts";
import { startTempoServer, type TempoServer } from "./tempo-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const secondNano = 1_000_000_000n;
const nowNano = (BigInt(Date.now()) / 1000n) * 1_000_000_000n;
const slow = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const quick = "0000000000000000000000000000bbbb";
const orphan = "cccccccccccccccccccccccccccccccc";
const old = "dddddddddddddddddddddddddddddddd";

const shop = resourceSpans(
  { "service.name": "shop", region: "eu" },
  {
    scope: { name: "tracer", version: "2" },
    spans: [
      {
        traceId: slow,
        spanId: "00000000000000a1",
        name: "GET /cart",
        kind: 2,
        startNano: nowNano - 60n * secondNano,
        durationNano: 3n * secondNano,
        attributes: {
          "http.status_code": 500n,
          "http.method": "GET",
          tags: ["a", "b"],
          prompt: "p".repeat(3000),
          sampled: true,
          score: 1.5,
        },
        events: [
          { name: "exception", afterNano: 7n, attributes: { "exception.type": "Timeout" } },
          { name: "exception", afterNano: 7n },
        ],
      },
      {
        traceId: slow,
        spanId: "00000000000000a2",
        parentSpanId: "00000000000000a1",
        name: "SELECT",
        kind: 3,
        status: 2,
        statusMessage: "lost",
        startNano: nowNano - 59n * secondNano,
        durationNano: 2n * secondNano,
        links: [{ traceId: old, spanId: "00000000000000d1", attributes: { why: "retry" } }],
      },
      {
        traceId: quick,
        spanId: "00000000000000b1",
        name: "GET /cart",
        kind: 2,
        status: 2,
        startNano: nowNano - 30n * secondNano,
        durationNano: 20_000_000n,
        attributes: { "http.status_code": 200n, "http.method": "POST", region: "us" },
      },
    ],
  },
);
const worker = resourceSpans(
  { "service.name": "worker" },
  {
    spans: [
      {
        traceId: slow,
        spanId: "00000000000000a3",
        parentSpanId: "00000000000000a2",
        name: "consume",
        kind: 5,
        startNano: nowNano - 58n * secondNano,
      },
      {
        traceId: orphan,
        spanId: "00000000000000c2",
        parentSpanId: "00000000000000c1",
        name: "lonely",
        startNano: nowNano - 20n * secondNano,
        durationNano: 0n,
      },
      { traceId: old, spanId: "00000000000000d1", name: "ancient", startNano: nowNano - 50n * 3600n * secondNano },
    ],
  },
);
const billing = resourceSpans(
  { "service.name": "billing" },
  {
    spans: [
      { traceId: "e".repeat(32), spanId: "00000000000000e1", name: "charge", startNano: nowNano - 10n * secondNano },
    ],
  },
);

let server: TempoServer;
beforeTests(async (stack) => {
  server = stack.use(await startTempoServer());
  await server.send([shop, worker]);
  await server.send([billing], { project: "billing" });
  await server.send([shop], { key: "org_b" });
});

function encoded(parameters: Record<string, string>): string {
  return new URLSearchParams(parameters).toString();
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers of tests are looked into freely
async function search(parameters: Record<string, string>, key = "org_a"): Promise<any> {
  const { json, status, text } = await server.get(`/api/search?${encoded(parameters)}`, { key });
  assert.equal(status, 200, text);
  return json;
}

async function found(q: string, key?: string): Promise<string[]> {
  const { traces } = await search({ q, limit: "50" }, key);
  return traces.map(({ traceID }: { traceID: string }) => traceID);
}

describe("searches find", () => {
  const cases: [query: string, ids: string[]][] = [
    ["{}", ["e".repeat(32), orphan, quick, slow]],
    ["{ status = error }", [quick, slow]],
    ["{ status = error && duration > 1s }", [slow]],
    ['{ resource.service.name = "worker" }', [orphan, slow]],
    ['{ .region = "eu" }', [slow]],
    ['{ .region = "us" }', [quick]],
    ['{ resource.region = "eu" }', [quick, slow]],
    ['{ .region != "eu" }', [quick]],
    ["{ span.http.status_code >= 500 }", [slow]],
    ["{ span.http.status_code = 200.0 }", [quick]],
    ["{ span.score > 1 }", [slow]],
    ["{ span.sampled }", [slow]],
    ['{ span.tags = "b" }', [slow]],
    ['{ span.prompt =~ "p+" }', [slow]],
    ["{ span.prompt != nil }", [slow]],
    ["{ span.prompt = nil && kind = server }", [quick]],
    ['{ event:name = "exception" }', [slow]],
    ['{ event.exception.type = "Timeout" }', [slow]],
    ['{ link.why = "retry" }', [slow]],
    ['{ instrumentation:version = "2" }', [quick, slow]],
    ['{ name =~ "GET.*" } >> { kind = consumer }', [slow]],
    ['{ kind = client } > { resource.service.name = "worker" }', [slow]],
    ["{ nestedSetParent < 0 }", ["e".repeat(32), quick, slow]],
    ['{ rootServiceName = "shop" && kind = consumer }', [slow]],
    ["{ traceDuration > 2s }", [slow]],
    ["{ span:childCount = 1 } | select(span.http.method)", [slow]],
    [`{ trace:id = "bbbb" }`, [quick]],
    [`{ trace:id = "${quick}" }`, [quick]],
    [`{ trace:id = "${quick.toUpperCase()}" }`, [quick]],
    [`{ trace:id != "${quick.toUpperCase()}" && name = "GET /cart" }`, [slow]],
    ['{ statusMessage = "lost" }', [slow]],
    ["{ kind = server } | count() > 0 | avg(duration) < 1s", [quick]],
    ["{ !(status = error) && kind = server }", [slow]],
    ["{ .score = 1.5 } && { .sampled = true }", [slow]],
    ['{ .score = 1.5 } && { .nothing = "x" }', []],
    ['{ name = "nothing" }', []],
    ["{ false }", []],
  ];
  for (const [query, ids] of cases) test(query, async () => assert.deepEqual(await found(query), ids));
});

test("a trace has what Tempo returns, and no other fields", async () => {
  const { metrics, traces } = await search({ q: "{ kind = client } | select(span.http.method, resource.region)" });
  const attributes: { key: string; value: object }[] = traces[0].spanSets[0].spans[0].attributes;
  assert.deepEqual(
    attributes.find(({ key }) => key === "region"),
    { key: "region", value: { stringValue: "eu" } },
  );
  assert.deepEqual(traces, [
    {
      traceID: slow,
      rootServiceName: "shop",
      rootTraceName: "GET /cart",
      startTimeUnixNano: String(nowNano - 60n * secondNano),
      durationMs: 3000,
      spanSet: traces[0].spanSets[0],
      spanSets: [
        {
          spans: [
            {
              spanID: "00000000000000a2",
              startTimeUnixNano: String(nowNano - 59n * secondNano),
              durationNanos: "2000000000",
              attributes,
            },
          ],
          matched: 1,
        },
      ],
      serviceStats: { shop: { spanCount: 2, errorCount: 1 }, worker: { spanCount: 1 } },
    },
  ]);
  assert.equal(metrics.inspectedTraces, 1);
});

test("an event without the attribute does not hide another event's", async () => {
  const { traces } = await search({ q: '{ event:name = "exception" } | select(event.exception.type)' });
  const attributes: { key: string; value: object }[] = traces[0].spanSets[0].spans[0].attributes;
  assert.deepEqual(
    attributes.find(({ key }) => key === "exception.type"),
    { key: "exception.type", value: { stringValue: "Timeout" } },
  );
});

test("a selected list is a text, because Grafana's table of spans fails at an array", async () => {
  const { traces } = await search({ q: '{ name = "GET /cart" && status != error } | select(span.tags)' });
  const attributes: { key: string; value: object }[] = traces[0].spanSets[0].spans[0].attributes;
  assert.deepEqual(attributes.find(({ key }) => key === "tags")?.value, { stringValue: '["a","b"]' });
});

test("spans without a root have none yet; spss limits the spans, limit the traces", async () => {
  const { traces } = await search({ q: '{ name = "lonely" }' });
  assert.equal(traces[0].rootServiceName, "<root span not yet received>");
  assert.equal("durationNanos" in traces[0].spanSets[0].spans[0], false, "a duration of 0 is omitted, as in Tempo");
  const spansOf = async (spss: string) => {
    const answer = await search({ q: `{ rootServiceName = "shop" && traceDuration > 1s }`, spss });
    return [answer.traces[0].spanSets[0].spans.length, answer.traces[0].spanSets[0].matched];
  };
  assert.deepEqual(
    [await spansOf("1"), await spansOf("2"), await spansOf("0")],
    [
      [1, 3],
      [2, 3],
      [3, 3],
    ],
  );
  assert.deepEqual((await search({ limit: "2" })).traces.length, 2);
});

test("a search covers its time", async () => {
  const seconds = nowNano / secondNano;
  const ids = async (start: bigint, end: bigint) =>
    (await search({ start: String(start), end: String(end) })).traces.map(
      ({ traceID }: { traceID: string }) => traceID,
    );
  assert.deepEqual(await ids(seconds - 31n, seconds - 25n), [quick]);
  assert.deepEqual(await ids(seconds - 51n * 3600n, seconds - 49n * 3600n), [old]);
  assert.deepEqual(await ids(seconds - 59n, seconds - 58n), [slow]);
});

test("tags and durations from before TraceQL select traces", async () => {
  const ids = async (parameters: Record<string, string>) =>
    (await search(parameters)).traces.map(({ traceID }: { traceID: string }) => traceID);
  assert.deepEqual(await ids({ tags: "service.name=sho http.method=GE" }), [slow]);
  assert.deepEqual(await ids({ tags: 'name="lone"' }), [orphan]);
  assert.deepEqual(await ids({ tags: "http.status_code=200" }), [quick]);
  assert.deepEqual(await ids({ tags: "status.code=error", minDuration: "1s" }), [slow]);
  assert.deepEqual(await ids({ tags: "root.service.name=shop", maxDuration: "100ms" }), [quick]);
});

test("tag values and names are filtered by a query, complete or not", async () => {
  const values = async (tag: string, q: string) =>
    (await server.get(`/api/v2/search/tag/${tag}/values?${encoded({ q })}`)).json.tagValues.map(
      ({ value }: { value: string }) => value,
    );
  assert.deepEqual(await values("name", '{ resource.service.name = "worker" && kind = }'), ["consume", "lonely"]);
  assert.deepEqual(await values("resource.service.name", "{ status = error }"), ["shop"]);
  assert.deepEqual(await values("span.http.method", "{ duration > 1s"), ["GET"]);
  assert.deepEqual(await values("event.exception.type", '{ name = "SELECT" }'), []);
  assert.deepEqual(await values("event.exception.type", '{ name =~ "GET .*" && .http.method = "GET" }'), ["Timeout"]);
  assert.ok((await values("name", "{ nonsense")).length > 3);
  const { json } = await server.get(
    `/api/v2/search/tags?${encoded({ scope: "span", q: '{ .http.method = "POST" }' })}`,
  );
  assert.deepEqual(json.scopes, [{ name: "span", tags: ["http.method", "http.status_code", "region"] }]);
});

test("a key bound to a project searches only it, and no key another organization", async () => {
  assert.deepEqual(await found("{}", "org_a:billing"), ["e".repeat(32)]);
  assert.deepEqual(await found('{ resource.service.name = "worker" }', "org_b"), []);
  assert.deepEqual(await found("{ status = error }", "org_b"), [quick, slow]);
  assert.deepEqual(await found("{}", "org_c"), []);
  // The other organization's spans of the same trace do not count.
  const { traces } = await search({ q: "{ kind = server && duration > 1s }" }, "org_b");
  assert.deepEqual(traces[0].serviceStats, { shop: { spanCount: 2, errorCount: 1 } });
});
