/** Recorded prompts and answers are hidden from callers without `content_read`, in every API that reads telemetry, encrypted or not. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { beforeTests } from "./support/hooks.ts";
import { otlpSender } from "./support/otlp-sender.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";

const second = 1_000_000_000n;
const startMs = Math.floor((Date.now() - 600_000) / 60_000) * 60_000;
const start = BigInt(startMs) * 1_000_000n;
const traceId = "a".repeat(32);

/** Where content is, each time with another word. */
const secrets = {
  "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"alfa-secret"}]}]',
  "gen_ai.output.messages": { structured: ["bravo-secret"] },
  "gen_ai.prompt.0.content": "charlie-secret",
  "input.value": "delta-secret",
  "ai.response.text": "echo-secret",
  "gen_ai.system_instructions": `foxtrot-secret ${"x".repeat(2000)}`,
};
const words = ["alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india"];

const keyValues = (attributes: Record<string, string>) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } }));

async function created(server: RunningServer, path: string, body: object): Promise<Record<string, string>> {
  const answer = await server.call(`/admin/v1${path}`, body, { authorization: `Bearer ${server.operatorKey}` });
  assert.equal(answer.status, 201, await answer.clone().text());
  return (await answer.json()) as Record<string, string>;
}

interface Sent {
  readonly server: RunningServer;
  readonly viewer: string;
  readonly reader: string;
}

async function serverWithContent(stack: AsyncDisposableStack, yaml: string): Promise<Sent> {
  const server = stack.use(await startServer(yaml, { telemetry: true }));
  await untilTelemetryReady(server);
  const { id } = await created(server, "/organizations", { name: "acme" });
  const key = async (rights: object) =>
    (await created(server, "/keys", { organization_id: id, name: "k", ...rights }))["secret"]!;
  const sender = otlpSender(server.url, await key({ permissions: ["telemetry_write"] }));
  const viewer = await key({ role: "viewer" });
  const reader = await key({ permissions: ["telemetry_read"] });
  await sender.spans({ "service.name": "shop" }, [
    {
      traceId,
      spanId: "b".repeat(16),
      name: "chat large",
      startUnixNano: start,
      duration: second,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "large",
        "gen_ai.conversation.id": "c1",
        "gen_ai.usage.input_tokens": 7,
        "visible.before": true,
        ...secrets,
        "visible.after": 4.5,
      },
      more: {
        events: [
          {
            timeUnixNano: String(start),
            name: "gen_ai.content.prompt",
            attributes: keyValues({ "gen_ai.prompt": "golf-secret", "event.visible": "yes" }),
          },
        ],
      },
    },
  ]);
  await sender.logs({ "service.name": "shop" }, [
    {
      unixNano: start,
      body: { content: "hotel-secret" },
      more: {
        eventName: "gen_ai.user.message",
        attributes: keyValues({ "gen_ai.input.messages": "india-secret", "log.visible": "yes" }),
      },
    },
    { unixNano: start, body: "an ordinary line" },
  ]);
  return { server, viewer, reader };
}

async function ask(server: RunningServer, secret: string, path: string, body?: object): Promise<string> {
  const response = await server.call(path, body, { authorization: `Bearer ${secret}`, accept: "application/json" });
  const text = await response.text();
  assert.equal(response.status, 200, `${path}: ${text}`);
  return text;
}

const from = Math.floor(startMs / 1000) - 60;
const range = `start=${from}&end=${from + 600}`;
const query = (path: string, parameters: Record<string, string>): string =>
  `${path}?${range}&${new URLSearchParams(parameters).toString()}`;

/** Every way to read the span and the log record. */
const readings: Readonly<
  Record<string, { readonly path: string; readonly body?: object; readonly shows: readonly string[] }>
> = {
  traces: {
    path: "/observability/traces",
    body: { trace: "all_traces", detail: true },
    shows: ["alfa", "bravo", "golf"],
  },
  "inference traces": {
    path: "/observability/traces",
    body: { trace: "inference_traces", detail: true },
    shows: ["alfa"],
  },
  conversations: { path: "/observability/conversations", body: {}, shows: [] },
  logs: { path: "/observability/logs", body: { detail: true }, shows: ["hotel", "india"] },
  "exported spans": { path: "/observability/export", body: { signal: "traces" }, shows: ["alfa", "bravo", "golf"] },
  "exported logs": { path: "/observability/export", body: { signal: "logs" }, shows: ["hotel", "india"] },
  "Tempo's trace": { path: `/tempo/api/traces/${traceId}`, shows: ["alfa", "foxtrot", "golf"] },
  "Tempo's trace, version 2": { path: `/tempo/api/v2/traces/${traceId}`, shows: ["alfa"] },
  TraceQL: {
    path: query("/tempo/api/search", { q: '{ } | select(span.gen_ai.input.messages, span."input.value")' }),
    shows: ["alfa"],
  },
  "values of a tag": { path: query("/tempo/api/v2/search/tag/span.input.value/values", {}), shows: ["delta"] },
  "names of tags": { path: query("/tempo/api/v2/search/tags", {}), shows: [] },
  "detected fields": {
    path: query("/loki/api/v1/detected_fields", { query: '{service_name="shop"}' }),
    shows: [],
  },
  patterns: { path: query("/loki/api/v1/patterns", { query: '{service_name="shop"}' }), shows: [] },
  volume: { path: query("/loki/api/v1/index/volume", { query: '{service_name="shop"}' }), shows: [] },
  "series counted by an attribute": {
    path: query("/tempo/api/metrics/query_range", { q: "{ } | rate() by (span.input.value)", step: "60s" }),
    shows: ["delta"],
  },
  "counted lines": {
    path: query("/loki/api/v1/query_range", {
      query: 'sum by (gen_ai_input_messages) (count_over_time({service_name="shop"}[10m]))',
      step: "60",
    }),
    shows: ["india"],
  },
  LogQL: { path: query("/loki/api/v1/query_range", { query: '{service_name="shop"}' }), shows: ["hotel", "india"] },
};

const stores = {
  "recorded content": "",
  "encrypted content": `content_encryption: { key: "${randomBytes(32).toString("hex")}" }\n`,
};

for (const [stored, yaml] of Object.entries(stores))
  describe(stored, () => {
    let server: RunningServer;
    let viewer: string;
    let reader: string;

    beforeTests(async (stack) => {
      ({ server, viewer, reader } = await serverWithContent(stack, yaml));
    });

    for (const [name, { body, path, shows }] of Object.entries(readings)) {
      test(`${name}: shown to a key with telemetry_read, hidden from a viewer`, async () => {
        const time = {
          start: new Date(startMs - 60_000).toISOString(),
          end: new Date(startMs + 60_000).toISOString(),
        };
        const sent = body === undefined ? undefined : { ...time, ...body };
        const shown = await ask(server, reader, path, sent);
        for (const word of shows) assert.ok(shown.includes(`${word}-secret`), `${word} in ${shown.slice(0, 2000)}`);
        const hidden = await ask(server, viewer, path, sent);
        for (const word of words) assert.ok(!hidden.includes(`${word}-secret`), word);
      });
    }

    test("the rest of the span and of the record stays, with the types of its attributes", async () => {
      const trace = await ask(server, viewer, `/tempo/api/traces/${traceId}`);
      for (const visible of [
        '"boolValue":true',
        '"doubleValue":4.5',
        "visible.before",
        "event.visible",
        "gen_ai.content.prompt",
      ])
        assert.ok(trace.includes(visible), `${visible} in ${trace}`);
      const logs = await ask(server, viewer, readings["LogQL"]!.path);
      for (const visible of ["an ordinary line", "log_visible"])
        assert.ok(logs.includes(visible), `${visible} in ${logs}`);
    });

    test("counts of what a search finds are those of readable content", async () => {
      const most = async (path: string, parameters: Record<string, string>) => {
        const { data, series } = JSON.parse(await ask(server, reader, query(path, { ...parameters, step: "60" }))) as {
          data?: { result: { values: [number, string][] }[] };
          series?: { samples: { value?: number }[] }[];
        };
        const ofLoki = data?.result.flatMap(({ values }) => values.map(([, value]) => Number(value))) ?? [];
        const ofTempo = series?.flatMap(({ samples }) => samples.map(({ value = 0 }) => value)) ?? [];
        return Math.max(0, ...ofLoki, ...ofTempo);
      };
      for (const [logql, count] of [
        ['sum(count_over_time({service_name="shop"} |= "hotel" [20m]))', 1],
        ['sum(count_over_time({service_name="shop"} != "hotel" [20m]))', 1],
        ['sum(count_over_time({service_name="shop"} [20m]))', 2],
        ['sum(bytes_over_time({service_name="shop"} |= "hotel" [20m]))', `{"content":"hotel-secret"}`.length],
      ] as const)
        assert.equal(await most("/loki/api/v1/query_range", { query: logql }), count, logql);
      for (const [traceql, count] of [
        ['{ span.input.value =~ "delta.*" } | count_over_time()', 1],
        ['{ span.input.value != "delta-secret" } | count_over_time()', 0],
        ["{ span.input.value } | count_over_time()", 0],
        ["{ } | count_over_time() by (span.input.value)", 1],
      ] as const)
        assert.equal(await most("/tempo/api/metrics/query_range", { q: traceql }), count, traceql);
    });

    test("a filter by attributes that cannot find encrypted content says so", async () => {
      const body = {
        start: new Date(startMs - 60_000).toISOString(),
        end: new Date(startMs + 60_000).toISOString(),
      };
      const filters = [
        ["/observability/traces", { ...body, trace: "all_traces", attributes: { "input.value": "delta-secret" } }],
        ["/observability/logs", { ...body, attributes: { "gen_ai.input.messages": "india-secret" } }],
      ] as const;
      for (const [path, sent] of filters) {
        const answer = await server.call(path, sent, { authorization: `Bearer ${reader}` });
        const text = await answer.text();
        assert.equal(answer.status, yaml === "" ? 200 : 400, text);
        if (yaml === "") assert.match(text, /"chat large"|hotel-secret/);
        else assert.match(text, /is recorded content, which this server encrypts.*TraceQL or LogQL/);
      }
    });

    test("no file of an encrypting server has it", async () => {
      const names = await readdir(server.dataDirectory, { recursive: true, withFileTypes: true });
      const files = names.filter((each) => each.isFile());
      const found: string[] = [];
      for (const { name, parentPath } of files) {
        // The store merges its files meanwhile.
        const bytes = await readFile(join(parentPath, name)).catch(() => Buffer.alloc(0));
        if (words.some((word) => bytes.includes(`${word}-secret`))) found.push(name);
      }
      assert.ok(files.length > 10);
      if (yaml !== "") assert.deepEqual(found, []);
    });

    test("a search that does not look into encrypted content says so", async () => {
      const body = {
        start: new Date(startMs - 60_000).toISOString(),
        end: new Date(startMs + 60_000).toISOString(),
        search: "secret",
      };
      const searches = {
        "/observability/traces": { ...body, trace: "all_traces" },
        "/observability/logs": body,
      };
      for (const [path, sent] of Object.entries(searches)) {
        const answers = [reader, viewer].map(async (key) => ask(server, key, path, sent));
        const [shown, hidden] = await Promise.all(answers);
        assert.equal(shown!.includes("does not look into it"), yaml !== "", shown);
        assert.ok(!hidden!.includes("does not look into it"), hidden);
      }
    });

    test("a search does not find the letters of encrypted values", async () => {
      const times = { start: new Date(startMs - 60_000).toISOString(), end: new Date(startMs + 60_000).toISOString() };
      const body = { ...times, search: "enc:v2", trace: "all_traces" };
      const { traces } = JSON.parse(await ask(server, reader, "/observability/traces", body)) as { traces: unknown[] };
      assert.deepEqual(traces, []);
    });

    test("a search finds nothing in hidden content, so it tells nothing about it", async () => {
      const traces = async (secret: string, q: string) =>
        (JSON.parse(await ask(server, secret, query("/tempo/api/search", { q }))) as { traces: unknown[] }).traces
          .length;
      const streams = async (secret: string, logql: string) =>
        (
          JSON.parse(await ask(server, secret, query("/loki/api/v1/query_range", { query: logql }))) as {
            data: { result: unknown[] };
          }
        ).data.result.length;
      for (const q of [
        '{ span.input.value =~ ".*delta.*" }',
        "{ span.gen_ai.input.messages != nil }",
        '{ event.gen_ai.prompt = "golf-secret" }',
        '{ span.input.value = "delta-secret" }',
        '{ .gen_ai.output.messages =~ ".*bravo.*" }',
        '{ span.input.value != "another" && span.visible.before }',
      ]) {
        assert.deepEqual([await traces(reader, q), await traces(viewer, q)], [1, 0], q);
      }
      for (const logql of [
        '{service_name="shop"} |= "hotel"',
        '{service_name="shop"} | gen_ai_input_messages =~ "india.*"',
        '{service_name="shop"} | gen_ai_input_messages = "india-secret"',
      ]) {
        assert.deepEqual([await streams(reader, logql), await streams(viewer, logql)], [1, 0], logql);
      }
    });
  });
