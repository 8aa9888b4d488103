/** Tempo's HTTP API without TraceQL: health, traces by ID, tags and their values. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { decode } from "../otlp/oracle.ts";
import { resourceSpans } from "./otlp-spans.ts";
import { startTempoServer, type TempoServer } from "./tempo-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const nowNano = (BigInt(Date.now()) / 1000n) * 1_000_000_000n;
const traceId = "0000000000000000000000000000abcd";
const otherTraceId = "11111111111111111111111111111111";
const large = "x".repeat(2000);

const shop = resourceSpans(
  { "service.name": "shop", "k8s.pod/name": "pod-1", replicas: 3n },
  {
    scope: { name: "tracer", version: "1.2", attributes: { "scope.kind": "manual" } },
    spans: [
      {
        traceId,
        spanId: "00000000000000a1",
        name: "GET /cart",
        kind: 2,
        startNano: nowNano - 60_000_000_000n,
        durationNano: 2_000_000_000n,
        attributes: {
          "http.method": "GET",
          "http.status_code": 200n,
          ratio: 2,
          cached: true,
          list: ["a", "b"],
          prompt: large,
        },
        events: [{ name: "exception", afterNano: 5n, attributes: { "exception.type": "E" } }],
        links: [{ traceId: otherTraceId, spanId: "00000000000000c3", attributes: { why: "retry" } }],
      },
      {
        traceId,
        spanId: "00000000000000b2",
        parentSpanId: "00000000000000a1",
        name: "SELECT",
        kind: 3,
        status: 2,
        statusMessage: "timeout",
        startNano: nowNano - 59_000_000_000n,
        attributes: { "http.method": "POST" },
      },
    ],
  },
);
const billing = resourceSpans(
  { "service.name": "billing" },
  {
    spans: [
      {
        traceId: otherTraceId,
        spanId: "00000000000000c3",
        name: "charge",
        startNano: nowNano - 3_600_000_000_000n,
        attributes: { card: "visa" },
      },
    ],
  },
);
const foreign = resourceSpans(
  { "service.name": "stranger", "secret.resource": "s" },
  {
    spans: [
      {
        traceId,
        spanId: "00000000000000f1",
        name: "secret",
        startNano: nowNano - 60_000_000_000n,
        attributes: { "secret.tag": "secret" },
      },
    ],
  },
);

let server: TempoServer;
beforeTests(async (stack) => {
  server = stack.use(await startTempoServer());
  await server.send([shop]);
  await server.send([billing], { project: "billing" });
  await server.send([foreign], { key: "org_b" });
});

test("the API is reachable: echo and build information need a key, ready needs none", async () => {
  const echo = await server.get("/api/echo");
  assert.deepEqual([echo.status, echo.text], [200, "echo"]);
  assert.equal((await fetch(`${server.url}/tempo/api/echo`)).status, 401);
  const ready = await fetch(`${server.url}/tempo/ready`);
  assert.deepEqual([ready.status, await ready.text()], [200, "ready\n"]);
  assert.match((await server.get("/api/status/buildinfo")).json.version, /^\d+\.\d+\.\d+$/);
});

describe("a trace by its ID", () => {
  test("is OTLP in protobuf's JSON mapping, under `batches`", async () => {
    const { json, status } = await server.get(`/api/traces/${traceId}`);
    assert.equal(status, 200);
    const [batch, ...others] = json.batches;
    assert.deepEqual(others, []);
    assert.deepEqual(batch.resource.attributes[0], { key: "service.name", value: { stringValue: "shop" } });
    const [first, second] = batch.scopeSpans[0].spans;
    assert.equal(first.spanId, Buffer.from("00000000000000a1", "hex").toString("base64"));
    assert.equal(first.kind, "SPAN_KIND_SERVER");
    assert.equal(first.events[0].name, "exception");
    assert.deepEqual(second.status, { message: "timeout", code: "STATUS_CODE_ERROR" });
    assert.equal(second.startTimeUnixNano, String(nowNano - 59_000_000_000n));
  });

  test("of the second version is under `trace`, without a status if it is complete", async () => {
    const { json } = await server.get(`/api/v2/traces/${traceId}`);
    const { json: first } = await server.get(`/api/traces/${traceId}`);
    assert.deepEqual(json, { trace: { resourceSpans: first.batches }, metrics: {} });
  });

  test("is found without its leading zeros, in upper case, and within its time", async () => {
    const expected = (await server.get(`/api/traces/${traceId}`)).text;
    const [from, to] = [nowNano / 1_000_000_000n - 61n, nowNano / 1_000_000_000n];
    for (const path of ["abcd", "ABCD", "00abcd", `abcd?start=${from}&end=${to}`, `abcd?start=${from}`])
      assert.equal((await server.get(`/api/traces/${path}`)).text, expected, path);
  });

  test("in protobuf has everything that the JSON has", async () => {
    const accept = "application/protobuf";
    const first = await server.get(`/api/traces/${traceId}`, { accept });
    assert.equal(first.type, accept);
    const decoded = decode("ExportTraceServiceRequest", first.bytes) as { resourceSpans: never[] };
    const { json } = await server.get(`/api/traces/${traceId}`);
    assert.equal(decoded.resourceSpans.length, json.batches.length);
    const text = JSON.stringify(decoded);
    for (const part of ["GET /cart", large, "exception.type", "retry", "scope.kind", "timeout"])
      assert.ok(text.includes(part), part);
    // The second version wraps the same message in field 1, followed by empty metrics.
    const second = await server.get(`/api/v2/traces/${traceId}`, { accept });
    assert.ok(second.bytes.includes(first.bytes));
    assert.equal(second.bytes[0], 0x0a);
    assert.deepEqual(second.bytes.subarray(-2), Buffer.from([0x12, 0x00]));
  });

  test("that does not exist is a 404 with a text, in both versions and both encodings", async () => {
    const [past] = [nowNano / 1_000_000_000n - 7200n];
    for (const path of ["/api/traces/", "/api/v2/traces/"])
      for (const accept of ["application/json", "application/protobuf"])
        for (const id of ["ffff", `abcd?start=${past - 10n}&end=${past}`]) {
          const answer = await server.get(path + id, { accept });
          assert.equal(answer.status, 404);
          assert.match(answer.type, /^text\/plain/);
          assert.match(answer.text, /^trace not found/);
        }
  });

  test("with an invalid ID or time is refused", async () => {
    for (const path of ["xyz", "1".repeat(33), "abcd?start=x", "abcd?start=2&end=1", "abcd?end=99999999999", "%20"]) {
      const { status, text } = await server.get(`/api/traces/${path}`);
      assert.equal(status, 400, path);
      assert.match(text, /expected/);
    }
  });

  test("is only the organization's, and of a key bound to a project only the project's", async () => {
    assert.ok(!(await server.get("/api/traces/abcd")).text.includes("secret"));
    assert.ok((await server.get("/api/traces/abcd", { key: "org_b" })).text.includes("secret"));
    assert.equal((await server.get(`/api/traces/${otherTraceId}`, { key: "org_b" })).status, 404);
    assert.equal((await server.get("/api/traces/abcd", { key: "org_a:billing" })).status, 404);
    assert.equal((await server.get(`/api/traces/${otherTraceId}`, { key: "org_a:billing" })).status, 200);
  });
});

test("spans of two projects with the same IDs and start keep their own events", async () => {
  const sameId = "e".repeat(32);
  for (const project of ["billing", "default"]) {
    const span = {
      traceId: sameId,
      spanId: "00000000000000e1",
      name: `of ${project}`,
      startNano: nowNano - 30_000_000_000n,
      events: [{ name: `event of ${project}`, afterNano: 1n, attributes: {} }],
    };
    await server.send([resourceSpans({ "service.name": "twin" }, { spans: [span] })], { key: "org_c", project });
  }
  const bound = { key: "org_c:billing" };
  const trace = await server.get(`/api/traces/${sameId}`, bound);
  assert.match(trace.text, /event of billing/);
  assert.doesNotMatch(trace.text, /of default/);
  const query = encodeURIComponent('{ resource.service.name = "twin" } | select(event:name)');
  const found = await server.get(`/api/search?q=${query}`, bound);
  assert.match(found.text, /event of billing/);
  assert.doesNotMatch(found.text, /of default/);
  const all = await server.get(`/api/traces/${sameId}`, { key: "org_c" });
  assert.match(all.text, /event of billing/);
  assert.match(all.text, /event of default/);
});

describe("tags", () => {
  test("are listed by scope, with intrinsics", async () => {
    const { json } = await server.get("/api/v2/search/tags");
    const { intrinsic, ...scopes } = Object.fromEntries(
      json.scopes.map(({ name, tags }: { name: string; tags: string[] }) => [name, tags]),
    );
    assert.deepEqual(scopes, {
      span: ["cached", "card", "http.method", "http.status_code", "list", "prompt", "ratio"],
      resource: ["k8s.pod/name", "replicas", "service.name"],
      event: ["exception.type"],
      link: ["why"],
      instrumentation: ["scope.kind"],
    });
    assert.ok(intrinsic.includes("duration") && intrinsic.includes("rootServiceName"));
    assert.deepEqual(Object.keys(json).sort(), ["metrics", "scopes"]);
  });

  test("of one scope, of a time and up to a limit", async () => {
    const names = async (path: string) => (await server.get(path)).json;
    const second = Number(nowNano / 1_000_000_000n);
    assert.deepEqual((await names("/api/v2/search/tags?scope=link")).scopes, [{ name: "link", tags: ["why"] }]);
    assert.deepEqual((await names("/api/v2/search/tags?scope=intrinsic")).scopes.length, 1);
    assert.deepEqual(
      (await names(`/api/search/tags?scope=span&start=${second - 4000}&end=${second - 3000}`)).tagNames,
      ["card"],
    );
    assert.deepEqual((await names("/api/search/tags?scope=span&limit=2")).tagNames, ["cached", "card"]);
    assert.ok((await names("/api/search/tags")).tagNames.includes("why"));
    assert.ok((await names("/api/search/tags?scope=intrinsic")).tagNames.includes("kind"));
  });
});

describe("values of a tag", () => {
  const string = (...values: string[]) => values.map((value) => ({ type: "string", value }));
  const cases: [tag: string, values: { type: string; value: string }[]][] = [
    ["resource.service.name", string("billing", "shop")],
    [".service.name", string("billing", "shop")],
    ["span.http.method", string("GET", "POST")],
    [".http.method", string("GET", "POST")],
    ["span.http.status_code", [{ type: "int", value: "200" }]],
    ["span.ratio", [{ type: "float", value: "2.0" }]],
    ["span.cached", [{ type: "bool", value: "true" }]],
    ["span.list", string("a", "b")],
    ["resource.k8s.pod/name", string("pod-1")],
    ['resource."k8s.pod/name"', string("pod-1")],
    ["resource.replicas", [{ type: "int", value: "3" }]],
    ["event.exception.type", string("E")],
    ["event:name", string("exception")],
    ["link.why", string("retry")],
    ["instrumentation.scope.kind", string("manual")],
    ["instrumentation:name", string("", "tracer")],
    ["name", string("GET /cart", "SELECT", "charge")],
    ["rootName", string("GET /cart", "charge")],
    ["rootServiceName", string("billing", "shop")],
    ["statusMessage", string("", "timeout")],
    ["status", ["error", "ok", "unset"].map((value) => ({ type: "keyword", value }))],
    ["duration", []],
    ["span.nothing", []],
  ];
  for (const [tag, expected] of cases) {
    test(tag, async () => {
      const path = `/api/v2/search/tag/${encodeURIComponent(tag)}/values`;
      const { json, status } = await server.get(path);
      assert.equal(status, 200);
      assert.deepEqual(json, { tagValues: expected, metrics: {} });
    });
  }

  test("a filter may compare the kind of the span", async () => {
    for (const tag of ["span.http.method", "resource.service.name", "name"]) {
      assert.equal((await server.get(`/api/v2/search/tag/${tag}/values?q={kind=server}`)).status, 200, tag);
    }
  });

  test("the first version takes names without a scope and returns texts; slashes need not be encoded", async () => {
    const values = async (tag: string) => (await server.get(`/api/search/tag/${tag}/values`)).json.tagValues;
    assert.deepEqual(await values("service.name"), ["billing", "shop"]);
    assert.deepEqual(await values("http.status_code"), ["200"]);
    assert.deepEqual(await values("k8s.pod/name"), ["pod-1"]);
    assert.deepEqual(await values("k8s.pod%2Fname"), ["pod-1"]);
  });

  test("a key bound to a project lists only the project's, and no key another organization's", async () => {
    const values = async (key: string) =>
      (await server.get("/api/v2/search/tag/resource.service.name/values", { key })).json.tagValues;
    assert.deepEqual(await values("org_a:billing"), string("billing"));
    assert.deepEqual(await values("org_b"), string("stranger"));
    const tags = await server.get("/api/v2/search/tags?scope=resource", { key: "org_a:billing" });
    assert.deepEqual(tags.json.scopes, [{ name: "resource", tags: ["service.name"] }]);
  });
});

test("hostile parameters are refused or find nothing", async () => {
  const hostile = ["' OR 1=1 --", "\\", "\0", "%", "é\u2028", "{p0:String}", "x".repeat(1000), "${1}", "`", "a'b\"c"];
  // A search of a longer time that finds nothing runs a statement for each of several ranges.
  const recent = `start=${nowNano / 1_000_000_000n - 90n}&end=${nowNano / 1_000_000_000n}`;
  const known = await server.get(`/api/v2/search/tag/span.http.method/values?${recent}`);
  assert.equal(known.json.tagValues.length, 2, "there are values to find");
  for (const text of hostile) {
    const encoded = encodeURIComponent(text);
    for (const path of [
      `/api/v2/search/tag/span.${encoded}/values?${recent}`,
      `/api/v2/search/tag/resource.${encoded}/values?${recent}`,
      `/api/v2/search/tag/event.${encoded}/values?${recent}`,
      `/api/search/tag/${encoded}/values?${recent}`,
    ]) {
      const { json, status } = await server.get(path);
      assert.deepEqual([status, json?.tagValues], [200, []], path);
    }
    for (const path of [
      `/api/traces/${encoded}`,
      `/api/v2/search/tags?scope=${encoded}`,
      `/api/v2/search/tags?start=${encoded}`,
      `/api/v2/search/tags?end=${encoded}`,
      `/api/v2/search/tags?limit=${encoded}`,
      `/api/v2/search/tag/name/values?limit=${encoded}`,
    ]) {
      const answer = await server.get(path);
      assert.equal(answer.status, 400, `${path} ${answer.text}`);
    }
  }
  assert.equal((await server.get(`/api/v2/search/tag/${"x".repeat(1025)}/values`)).status, 400);
});
