/** Loki's push API through the real server: JSON and protobuf, labels, severities, traces, and what is refused. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import protobuf from "protobufjs";
import { compress } from "snappyjs";
import { newLogTenant, type LogTenant } from "./support/log-tenant.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

const traceId = "5b8efff798038103d269b633813fc60c";
const spanId = "eee19b7ec3c1b174";
const startNano = BigInt(Date.now() - 60_000) * 1_000_000n;
const at = (index: number): string => String(startNano + BigInt(index));

let server: RunningServer;
beforeTests(async (stack) => {
  server = stack.use(await startServer("", { telemetry: true }));
  await untilTelemetryReady(server);
});

interface Answer {
  readonly status: number;
  readonly message: string | undefined;
}

async function push(
  tenant: Pick<LogTenant, "key">,
  body: unknown,
  headers: Record<string, string> = { "content-type": "application/json" },
): Promise<Answer> {
  const response = await fetch(`${server.url}/loki/api/v1/push`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, ...headers },
    body: body instanceof Uint8Array ? Buffer.from(body) : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, message: text === "" ? undefined : (JSON.parse(text) as Answer).message };
}

interface Stored {
  readonly stream: Record<string, string>;
  readonly values: [unixNano: string, line: string, { structuredMetadata: Record<string, string> }][];
}

async function stored(tenant: Pick<LogTenant, "key">, project?: string): Promise<Stored[]> {
  const response = await fetch(`${server.url}/observability/logs`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": "application/json" },
    body: JSON.stringify({ time_window: "1h", detail: true, direction: "forward", project_name: project }),
  });
  const { data } = (await response.json()) as { data: { result: Stored[] } };
  return data.result;
}

const pushProto = `syntax = "proto3";
  message PushRequest { repeated Stream streams = 1; }
  message Stream { string labels = 1; repeated Entry entries = 2; uint64 hash = 3; }
  message Entry { Timestamp timestamp = 1; string line = 2; repeated Pair structuredMetadata = 3; }
  message Pair { string name = 1; string value = 2; }
  message Timestamp { int64 seconds = 1; int32 nanos = 2; }`;
const pushRequest = protobuf.parse(pushProto).root.lookupType("PushRequest");

function asProtobuf(request: object): Buffer {
  return Buffer.from(compress(pushRequest.encode(pushRequest.fromObject(request)).finish()));
}

describe("Loki's push API", () => {
  test("stores streams in JSON with their labels, structured metadata, severity and trace", async () => {
    const tenant = await newLogTenant(server);
    const request = {
      streams: [
        {
          stream: { app: "shop", project_name: "p", level: "warning" },
          values: [
            [at(1), "no such cart", { user: "u1", trace_id: traceId, span_id: spanId }],
            [at(2), "über\n", { level: "error" }],
          ],
        },
        { stream: { service_name: "till" }, values: [[at(3), ""]] },
      ],
    };
    assert.deepEqual(await push(tenant, request), { status: 204, message: undefined });
    const entries = (await stored(tenant)).flatMap(({ stream, values }) =>
      values.map(([unixNano, line, { structuredMetadata }]) => ({ stream, unixNano, line, structuredMetadata })),
    );
    assert.deepEqual(entries, [
      {
        stream: {
          service_name: "shop",
          project_name: "p",
          severity: "warning",
          trace_id: traceId,
          span_id: spanId,
        },
        unixNano: at(1),
        line: "no such cart",
        structuredMetadata: { user: "u1" },
      },
      {
        stream: {
          service_name: "shop",
          project_name: "p",
          severity: "error",
        },
        unixNano: at(2),
        line: "über\n",
        structuredMetadata: { level: "error" },
      },
      {
        stream: {
          service_name: "till",
          project_name: "default",
          severity: "info",
        },
        unixNano: at(3),
        line: "",
        structuredMetadata: {},
      },
    ]);
  });

  test("accepts gzip, and protobuf compressed by Snappy with and without a header that says so", async () => {
    const tenant = await newLogTenant(server);
    const json = { streams: [{ stream: { service_name: "a" }, values: [[at(1), "by gzip"]] }] };
    const zipped = { "content-type": "application/json", "content-encoding": "gzip" };
    assert.equal((await push(tenant, gzipSync(JSON.stringify(json)), zipped)).status, 204);
    const [seconds, nanos] = [String(startNano / 1_000_000_000n), Number(startNano % 1_000_000_000n)];
    const request = (line: string): Buffer =>
      asProtobuf({
        streams: [
          {
            labels: String.raw`{service_name="a", env="x \"y\" ü"}`,
            entries: [{ timestamp: { seconds, nanos }, line, structuredMetadata: [{ name: "k", value: "v" }] }],
          },
        ],
      });
    const type = { "content-type": "application/x-protobuf" };
    assert.equal((await push(tenant, request("by snappy"), { ...type, "content-encoding": "snappy" })).status, 204);
    assert.equal((await push(tenant, request("by promtail"), type)).status, 204);
    const values = (await stored(tenant)).flatMap((stream) => stream.values);
    assert.deepEqual(values.map(([, line]) => line).toSorted(), ["by gzip", "by promtail", "by snappy"]);
    const [unixNano, , { structuredMetadata }] = values.find(([, line]) => line === "by snappy")!;
    assert.deepEqual([unixNano, structuredMetadata], [String(startNano), { k: "v" }]);
  });

  test("stores an entry that is sent again once", async () => {
    const tenant = await newLogTenant(server);
    const request = { streams: [{ stream: { service_name: "a" }, values: [[at(1), "once"]] }] };
    await push(tenant, request);
    await push(tenant, request);
    assert.equal((await stored(tenant)).flatMap(({ values }) => values).length, 1);
  });

  test("stores an entry once that is sent in overlapping batches, or twice in one", async () => {
    const tenant = await newLogTenant(server);
    const batch = (...values: [string, string][]) => push(tenant, { streams: [{ stream: { app: "a" }, values }] });
    await batch([at(1), "first"], [at(2), "same"], [at(2), "same"]);
    await batch([at(2), "same"], [at(3), "last"]);
    const lines = (await stored(tenant)).flatMap(({ values }) => values.map(([, line]) => line));
    assert.deepEqual(lines, ["first", "same", "last"]);
  });

  test("keeps the order of entries with equal times, also across many of them", async () => {
    const tenant = await newLogTenant(server);
    const lines = Array.from({ length: 600 }, (_, index) => `line ${index}`);
    await push(tenant, { streams: [{ stream: { app: "a" }, values: lines.map((line) => [at(5), line]) }] });
    for (const direction of ["forward", "backward"]) {
      const query = new URLSearchParams({ query: '{app="a"}', limit: "1000", direction });
      const response = await fetch(`${server.url}/loki/api/v1/query_range?${query.toString()}`, {
        headers: { authorization: `Bearer ${tenant.key}` },
      });
      const { data } = (await response.json()) as { data: { result: { values: [string, string][] }[] } };
      const seen = data.result.flatMap(({ values }) => values.map(([, line]) => line));
      assert.deepEqual(direction === "forward" ? seen : seen.toReversed(), lines);
    }
  });

  test("stores the other entries if one is too old, and says so", async () => {
    const tenant = await newLogTenant(server);
    const values = [
      ["1", "old"],
      [at(1), "new"],
    ];
    const { message, status } = await push(tenant, { streams: [{ stream: { service_name: "a" }, values }] });
    assert.equal(status, 400);
    assert.match(message!, /1 log record rejected: 1 older than the retention of \d+ days\. 1 stored/);
    assert.deepEqual(
      (await stored(tenant)).flatMap((stream) => stream.values.map(([, line]) => line)),
      ["new"],
    );
  });

  for (const [what, body, problem] of [
    ["no streams", {}, /streams is missing; expected an array/],
    ["a time that is a number", one({ values: [[1, "a"]] }), /streams\[0\]\.values\[0\]\[0\] is 1; expected nano/],
    ["a line that is a number", one({ values: [[at(1), 1]] }), /values\[0\]\[1\] is 1; expected the line/],
    ["metadata that is no text", one({ values: [[at(1), "a", { n: 1 }]] }), /values\[0\]\[2\]\.n is 1; expected a str/],
    ["no labels", one({ stream: {} }), /streams\[0\]\.stream has no labels/],
    ["a label name with a dot", one({ stream: { "a.b": "c" } }), /the label name "a\.b"; expected letters/],
    ["many labels", one({ stream: manyLabels() }), /129 labels; expected at most 128/],
  ] as const) {
    test(`refuses ${what}, and stores nothing`, async () => {
      const tenant = await newLogTenant(server);
      const { message, status } = await push(tenant, body);
      assert.equal(status, 400);
      assert.match(message!, problem);
      assert.deepEqual(await stored(tenant), []);
    });
  }

  test("refuses protobuf that is none, and labels that are none", async () => {
    const tenant = await newLogTenant(server);
    const type = { "content-type": "application/x-protobuf" };
    assert.match((await push(tenant, Buffer.from([200]), type)).message!, /not valid Snappy/);
    assert.equal((await push(tenant, Buffer.from(compress(Buffer.from([0xff]))), type)).status, 400);
    for (const labels of ["", "{", '{a=~"b"}', 'sum(rate({a="b"}[1m]))', '{a="b"} |= "c"']) {
      const { message, status } = await push(tenant, asProtobuf({ streams: [{ labels }] }), type);
      assert.equal(status, 400);
      assert.match(message!, /streams\[0\]\.labels/);
    }
  });

  test("needs the permission to write telemetry, and writes to the key's organization and project only", async () => {
    const request = { streams: [{ stream: { service_name: "a" }, values: [[at(1), "mine"]] }] };
    assert.equal((await push({ key: "sk-wrong" }, request)).status, 401);
    const [first, second] = [await newLogTenant(server), await newLogTenant(server)];
    await push(first, request);
    assert.equal((await stored(first)).length, 1);
    assert.deepEqual(await stored(second), []);
  });
});

function one(stream: object): unknown {
  return { streams: [{ stream: { service_name: "a" }, values: [[at(1), "a"]], ...stream }] };
}

function manyLabels(): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 129 }, (_, index) => [`l${index}`, "x"]));
}
