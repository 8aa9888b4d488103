/** Logs and traces through the real server: sent over OTLP, stored in the real store, queried like clients do. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { otlpSender, type OtlpSender, type SentSpan } from "./support/otlp-sender.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

const hostile = `x' OR 1=1 --"} \\'`;
const configuration = `
telemetry:
  slow_trace_ms: 5000
  token_prices: { large: { input: 2, output: 10 } }
  trace_presets:
    checkout_traces:
      description: Traces of the checkout.
      attributes: { http.route: [/checkout, ${JSON.stringify(hostile)}], user.id: ["*"] }
      resource_attributes: { deployment.environment.name: [production] }
      services: [shop, till]
    quick_failures: { status: error, min_duration_ms: 2 }
`;

interface Tenant {
  readonly key: string;
  readonly sender: OtlpSender;
  logs(body?: unknown, query?: string): Promise<LogsAnswer>;
  traces(body: unknown, query?: string): Promise<TracesAnswer>;
  /** The answer's status and text. */
  ask(path: string, body: unknown): Promise<[status: number, text: string]>;
}
interface LogsAnswer {
  readonly data: {
    readonly result: { readonly stream: Record<string, string>; readonly values: [string, string][] }[];
  };
}
interface TracesAnswer {
  readonly traces: {
    readonly traceID: string;
    readonly rootServiceName: string;
    readonly rootTraceName: string;
    readonly startTimeUnixNano: string;
    readonly durationMs: number;
    readonly summary: Readonly<Record<string, unknown>>;
    readonly batches?: { resource: unknown; scopeSpans: { scope: unknown; spans: { name: string }[] }[] }[];
  }[];
}

let server: RunningServer;
let own: Tenant;
const start = BigInt(Date.now() - 600_000) * 1_000_000n;

function tenant(key: string): Tenant {
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  const answer = async <Answer>(path: string, body: unknown): Promise<Answer> => {
    const response = await post(path, body);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as Answer;
  };
  return {
    key,
    sender: otlpSender(server.url, key),
    logs: (body, query = "") => answer(`/observability/logs${query}`, body),
    traces: (body, query = "") => answer(`/observability/traces${query}`, body),
    async ask(path, body) {
      const response = await post(path, body);
      return [response.status, await response.text()];
    },
  };
}

async function admin<Answer>(path: string, body: unknown): Promise<Answer> {
  const response = await fetch(`${server.url}/admin/v1${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 201, await response.clone().text());
  return (await response.json()) as Answer;
}

let organizations = 0;
/** A new organization with a key; bound to a project if one is named. */
async function newTenant(): Promise<Tenant & { keyOf(project: string): Promise<Tenant> }> {
  organizations += 1;
  const { id } = await admin<{ id: string }>("/organizations", { name: `organization-${organizations}` });
  const permissions = ["telemetry_read", "telemetry_write"];
  const makeKey = async (name: string, project_id?: string): Promise<Tenant> => {
    const { secret } = await admin<{ secret: string }>("/keys", { organization_id: id, name, permissions, project_id });
    return tenant(secret);
  };
  return {
    ...(await makeKey("all")),
    async keyOf(name) {
      const project = await admin<{ id: string }>("/projects", { organization_id: id, name });
      return makeKey(`of ${name}`, project.id);
    },
  };
}

beforeTests(async (stack) => {
  server = stack.use(await startServer(configuration, { telemetry: true }));
  await untilTelemetryReady(server);
  own = tenant(server.key);
});

const lines = ({ data }: LogsAnswer): string[] =>
  data.result
    .flatMap(({ values }) => values)
    .sort(([left], [right]) => (BigInt(left) < BigInt(right) ? 1 : -1))
    .map(([, line]) => line);

describe("a query of logs", { timeout: 120_000 }, () => {
  test("answers in Loki's form", async () => {
    const { sender, logs } = await newTenant();
    const traceId = "5b8efff798038103d269b633813fc60c";
    await sender.logs(
      {
        "service.name": "shop",
        "project.name": "helpdesk",
        "host.name": "h1",
        "process.pid": 7n,
        organization_id: "x",
      },
      [
        { unixNano: start + 1n, body: "first", more: { severityNumber: 9, severityText: "INFO" } },
        { unixNano: start + 2n, body: "broken", more: { severityNumber: 17, traceId, spanId: "eee19b7ec3c1b174" } },
        { unixNano: start + 3n, body: { a: [1n, true], b: "c" }, more: { severityNumber: 9, severityText: "INFO" } },
        { unixNano: start + 4n, body: "", more: { severityNumber: 9, severityText: "INFO", eventName: "exception" } },
      ],
    );
    const common = {
      service_name: "shop",
      project_name: "helpdesk",
      scope_name: "test.library",
      scope_version: "1.2.3",
      host_name: "h1",
    };
    assert.deepEqual(await logs({}), {
      status: "success",
      data: {
        resultType: "streams",
        result: [
          {
            stream: { ...common, severity: "info", severity_text: "INFO" },
            values: [
              [String(start + 4n), "exception"],
              [String(start + 3n), '{"a":["1",true],"b":"c"}'],
              [String(start + 1n), "first"],
            ],
          },
          {
            stream: { ...common, severity: "error", trace_id: traceId, span_id: "eee19b7ec3c1b174" },
            values: [[String(start + 2n), "broken"]],
          },
        ],
        stats: { summary: { totalEntriesReturned: 4 } },
      },
    });
  });

  test("maps every severity: by number, else by text, else as info", async () => {
    const { sender, logs } = await newTenant();
    const numbered = Array.from({ length: 24 }, (_, index) => ({
      unixNano: start + BigInt(index),
      body: String(index + 1),
      more: { severityNumber: index + 1 },
    }));
    const texts = ["Debug", "WARN", "warning", "ERROR", "fatal", "strange"].map((severityText, index) => ({
      unixNano: start + 100n + BigInt(index),
      body: severityText,
      more: { severityText },
    }));
    await sender.logs({}, [...numbered, ...texts, { unixNano: start + 200n, body: "none" }]);
    const numbers = (from: number, to: number): string[] =>
      Array.from({ length: to - from + 1 }, (_, index) => String(from + index));
    const expected = {
      debug: [...numbers(1, 8), "Debug"],
      info: [...numbers(9, 12), "strange", "none"],
      warning: [...numbers(13, 16), "WARN", "warning"],
      error: [...numbers(17, 24), "ERROR", "fatal"],
    };
    for (const [severity, bodies] of Object.entries(expected)) {
      assert.deepEqual(lines(await logs({ severity })).sort(), bodies.sort(), severity);
    }
  });

  test("returns the newest entries of all streams within the window", async () => {
    const { sender, logs } = await newTenant();
    const now = BigInt(Date.now()) * 1_000_000n;
    const minute = 60_000_000_000n;
    for (const [service, minutesAgo] of [
      ["a", 1n],
      ["b", 2n],
      ["a", 30n],
      ["b", 90n],
      ["a", 1500n],
      ["b", 20_000n],
    ] as const) {
      await sender.logs({ "service.name": service }, [
        { unixNano: now - minutesAgo * minute, body: String(minutesAgo) },
      ]);
    }
    assert.deepEqual(lines(await logs({ limit: 3 })), ["1", "2", "30"]);
    assert.deepEqual(lines(await logs()), ["1", "2", "30", "90"], "24 hours by default");
    assert.deepEqual(lines(await logs({ time_window: "1h" })), ["1", "2", "30"]);
    assert.deepEqual(lines(await logs({ time_window: "20d", limit: null })), ["1", "2", "30", "90", "1500", "20000"]);
  });

  test("reads its parameters from the query string too; the body takes precedence", async () => {
    const { sender, logs } = await newTenant();
    await sender.logs({}, [
      { unixNano: start, body: "a", more: { severityNumber: 17 } },
      { unixNano: start + 1n, body: "b", more: { severityNumber: 17 } },
      { unixNano: start + 2n, body: "c", more: { severityNumber: 9 } },
    ]);
    assert.deepEqual(lines(await logs(undefined, "?severity=error&limit=1")), ["b"]);
    assert.deepEqual(lines(await logs("", "?severity=error")), ["b", "a"]);
    assert.deepEqual(lines(await logs({ severity: "info" }, "?severity=error&severity=error")), ["c"]);
  });

  test("returns an entry once if it was sent twice", async () => {
    const { sender, logs } = await newTenant();
    const entries = Array.from({ length: 5 }, (_, index) => ({ unixNano: start + BigInt(index), body: String(index) }));
    for (let times = 0; times < 3; times += 1) await sender.logs({}, entries);
    assert.deepEqual(lines(await logs({})), ["4", "3", "2", "1", "0"]);
    assert.deepEqual(lines(await logs({ limit: 4 })), ["4", "3", "2", "1"]);
  });
});

const ids = { trace: "0af7651916cd43dd8448eb211c80319c", root: "b7ad6b7169203331", child: "00f067aa0ba902b7" };
const base64 = (hex: string): string => Buffer.from(hex, "hex").toString("base64");

describe("a query of traces", { timeout: 120_000 }, () => {
  test("answers in Tempo's form, for spans in any order, from several requests and services", async () => {
    const { sender, traces } = await newTenant();
    const child: SentSpan = {
      traceId: ids.trace,
      spanId: ids.child,
      name: "query",
      startUnixNano: start + 5_000_000n,
      duration: 2_000_000n,
      attributes: { rows: 9_007_199_254_740_993n, share: 0.5, cached: false, raw: new Uint8Array([1, 2]), none: null },
      more: {
        parentSpanId: ids.root,
        kind: 3,
        status: { code: 2, message: "gone" },
        events: [
          {
            timeUnixNano: String(start + 6_000_000n),
            name: "exception",
            attributes: [{ key: "exception.message", value: { stringValue: "gone" } }],
          },
        ],
        links: [{ traceId: "a".repeat(32), spanId: "b".repeat(16), traceState: "k=v" }],
        droppedAttributesCount: 4,
      },
    };
    const root: SentSpan = {
      traceId: ids.trace,
      spanId: ids.root,
      name: "GET /",
      startUnixNano: start,
      duration: 12_345_678n,
      attributes: { list: ["a", [1n]], map: { "1": "x", b: { c: true } }, large: "é".repeat(2000) },
      more: { kind: 2, traceState: "vendor=1" },
    };
    await sender.spans({ "service.name": "database" }, [child]);
    await sender.spans({ "service.name": "shop", "service.version": "2" }, [root]);
    await sender.spans({ "service.name": "database" }, [child]);
    const head = {
      traceID: ids.trace,
      rootServiceName: "shop",
      rootTraceName: "GET /",
      startTimeUnixNano: String(start),
      durationMs: 12,
      summary: {
        spanCount: 2,
        errorCount: 1,
        status: "unset",
        durationNanos: "12345678",
        models: [],
        cost: null,
      },
    };
    const expected = {
      traces: [
        {
          ...head,
          batches: [
            {
              resource: {
                attributes: [
                  { key: "service.name", value: { stringValue: "shop" } },
                  { key: "service.version", value: { stringValue: "2" } },
                ],
              },
              scopeSpans: [
                {
                  scope: { name: "test.library", version: "1.2.3" },
                  spans: [
                    {
                      traceId: base64(ids.trace),
                      spanId: base64(ids.root),
                      traceState: "vendor=1",
                      name: "GET /",
                      kind: "SPAN_KIND_SERVER",
                      startTimeUnixNano: String(start),
                      endTimeUnixNano: String(start + 12_345_678n),
                      attributes: [
                        {
                          key: "list",
                          value: {
                            arrayValue: {
                              values: [{ stringValue: "a" }, { arrayValue: { values: [{ intValue: "1" }] } }],
                            },
                          },
                        },
                        {
                          key: "map",
                          value: {
                            kvlistValue: {
                              values: [
                                { key: "1", value: { stringValue: "x" } },
                                {
                                  key: "b",
                                  value: { kvlistValue: { values: [{ key: "c", value: { boolValue: true } }] } },
                                },
                              ],
                            },
                          },
                        },
                        { key: "large", value: { stringValue: "é".repeat(2000) } },
                      ],
                      status: {},
                    },
                  ],
                },
              ],
            },
            {
              resource: { attributes: [{ key: "service.name", value: { stringValue: "database" } }] },
              scopeSpans: [
                {
                  scope: { name: "test.library", version: "1.2.3" },
                  spans: [
                    {
                      traceId: base64(ids.trace),
                      spanId: base64(ids.child),
                      parentSpanId: base64(ids.root),
                      name: "query",
                      kind: "SPAN_KIND_CLIENT",
                      startTimeUnixNano: String(start + 5_000_000n),
                      endTimeUnixNano: String(start + 7_000_000n),
                      attributes: [
                        { key: "rows", value: { intValue: "9007199254740993" } },
                        { key: "share", value: { doubleValue: 0.5 } },
                        { key: "cached", value: { boolValue: false } },
                        { key: "raw", value: { bytesValue: "AQI=" } },
                        { key: "none", value: {} },
                      ],
                      droppedAttributesCount: 4,
                      events: [
                        {
                          timeUnixNano: String(start + 6_000_000n),
                          name: "exception",
                          attributes: [{ key: "exception.message", value: { stringValue: "gone" } }],
                        },
                      ],
                      links: [{ traceId: base64("a".repeat(32)), spanId: base64("b".repeat(16)), traceState: "k=v" }],
                      status: { code: "STATUS_CODE_ERROR", message: "gone" },
                    },
                  ],
                },
              ],
            },
          ],
        },
      ],
    };
    assert.deepEqual(await traces({ trace: "all_traces" }), expected);
    assert.deepEqual(await traces({ trace: "all_traces", trace_id: ids.trace.toUpperCase() }), expected);
    assert.deepEqual(await traces({ trace: "all_traces", detail: false }), { traces: [head] });
    assert.deepEqual(await traces({ trace: "inference_traces", trace_id: ids.trace, detail: false }), {
      traces: [head],
    });
    assert.deepEqual(await traces({ trace: "all_traces", trace_id: "f".repeat(32) }), { traces: [] });
    assert.deepEqual(await traces({ trace: "all_traces" }, "?detail=false&limit=5"), { traces: [head] });
    assert.deepEqual(await traces({ trace: "all_traces", trace_id: ids.trace, time_window: "1m" }), { traces: [] });
  });

  test("summarizes a trace's spans: status, errors, exact duration, models with their tokens, and cost", async () => {
    const { sender, traces } = await newTenant();
    const call = (spanId: string, model: string, tokens: readonly [bigint, bigint]): SentSpan => ({
      traceId: ids.trace,
      spanId,
      name: `chat ${model}`,
      startUnixNano: start,
      duration: 700_000n,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.usage.input_tokens": tokens[0],
        "gen_ai.usage.output_tokens": tokens[1],
      },
      more: { parentSpanId: ids.root },
    });
    const repeated = call("1".repeat(16), "large", [1000n, 100n]);
    const root: SentSpan = {
      traceId: ids.trace,
      spanId: ids.root,
      name: "invoke_agent",
      startUnixNano: start,
      duration: 900_000n,
      attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 5000n },
      more: { status: { code: 2, message: "gone" } },
    };
    await sender.spans({ "service.name": "a" }, [repeated, root]);
    await sender.spans({ "service.name": "a" }, [repeated, call("2".repeat(16), "large", [500n, 50n])]);
    await sender.spans({ "service.name": "b" }, [call("3".repeat(16), "unpriced", [7n, 0n])]);
    for (const detail of [true, false]) {
      const [trace] = (await traces({ trace: "all_traces", detail })).traces;
      assert.deepEqual(trace!.summary, {
        spanCount: 4,
        errorCount: 1,
        status: "error",
        durationNanos: "900000",
        models: [
          { model: "large", calls: 2, inputTokens: 1500, outputTokens: 150, cacheReadTokens: 0, cacheWriteTokens: 0 },
          { model: "unpriced", calls: 1, inputTokens: 7, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
        ],
        cost: (1500 * 2 + 150 * 10) / 1e6,
      });
    }
  });

  test("finds each preset's traces, newest first", async () => {
    const { sender, traces } = await newTenant();
    const checkout = { "http.route": hostile, "user.id": "u" };
    const samples: Record<string, [resource: object, attributes: object, more?: Partial<SentSpan>]> = {
      chat: [{}, { "gen_ai.operation.name": "chat" }],
      completion: [{}, { "gen_ai.operation.name": "text_completion" }],
      content: [{}, { "gen_ai.operation.name": "generate_content" }],
      embeddings: [{}, { "gen_ai.operation.name": "embeddings" }],
      speech: [{}, { "gen_ai.operation.name": "speech" }],
      transcription: [{}, { "gen_ai.operation.name": "transcription" }],
      tool: [{}, { "gen_ai.operation.name": "execute_tool" }],
      agent: [{}, { "gen_ai.operation.name": "invoke_agent" }],
      workflow: [{}, { "gen_ai.operation.name": "invoke_workflow" }],
      failed: [{}, {}, { more: { status: { code: 2 } } }],
      "failed late": [{}, {}, { more: { status: { code: 2 } }, duration: 3_000_000n }],
      slow: [{}, {}, { duration: 5_000_000_000n }],
      "not quite slow": [{}, {}, { duration: 4_999_999_999n }],
      checkout: [{ "service.name": "till", "deployment.environment.name": "production" }, checkout],
      "checkout elsewhere": [{ "service.name": "till", "deployment.environment.name": "test" }, checkout],
      "checkout by nobody": [
        { "service.name": "till", "deployment.environment.name": "production" },
        { "http.route": "/checkout" },
      ],
      "checkout by another": [{ "service.name": "x", "deployment.environment.name": "production" }, checkout],
    };
    for (const [index, [name, [resource, attributes, more]]] of Object.entries(samples).entries()) {
      const traceId = (index + 1).toString(16).padStart(32, "0");
      const startUnixNano = start + BigInt(index) * 1_000_000_000n;
      await sender.spans(resource as Record<string, unknown>, [
        { traceId, spanId: ids.root, name, startUnixNano, attributes: attributes as Record<string, unknown>, ...more },
      ]);
    }
    const all = Object.keys(samples).reverse();
    const expected = {
      all_traces: all,
      inference_traces: ["transcription", "speech", "embeddings", "content", "completion", "chat"],
      agent_traces: ["workflow", "agent"],
      distiller_traces: ["workflow", "agent"],
      error_traces: ["failed late", "failed"],
      slow_traces: ["slow"],
      checkout_traces: ["checkout"],
      quick_failures: ["failed late"],
    };
    const names = ({ traces: found }: TracesAnswer): string[] => found.map(({ rootTraceName }) => rootTraceName);
    for (const [trace, found] of Object.entries(expected)) {
      for (const detail of [true, false]) assert.deepEqual(names(await traces({ trace, detail })), found, trace);
    }
    assert.deepEqual(names(await traces({ trace: "all_traces", limit: 4 })), all.slice(0, 4));
    const [status, text] = await own.ask("/observability/traces", { trace: "some_traces" });
    const { message } = (JSON.parse(text) as { error: { message: string } }).error;
    assert.equal(status, 400);
    const listed = Object.keys(expected).map((name) => JSON.stringify(name));
    assert.deepEqual(message.match(/"\w+"/g)?.slice(1).sort(), listed.sort());
  });

  test("shows each of two projects its own spans of a shared trace", async () => {
    const organization = await newTenant();
    for (const project of ["one", "two"]) {
      await organization.sender.spans({ "service.name": "s", "project.name": project }, [
        {
          traceId: ids.trace,
          spanId: project === "one" ? ids.root : ids.child,
          name: `in ${project}`,
          startUnixNano: project === "one" ? start : start + 1n,
        },
      ]);
    }
    const spanNames = ({ traces }: TracesAnswer): string[] =>
      traces
        .flatMap(({ batches }) => batches ?? [])
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(({ name }) => name)));
    const query = { trace: "all_traces" };
    const bound = await organization.keyOf("two");
    assert.deepEqual(spanNames(await organization.traces(query)), ["in one", "in two"]);
    assert.deepEqual(spanNames(await organization.traces({ ...query, project_name: "one" })), ["in one"]);
    assert.deepEqual(spanNames(await organization.traces({ ...query, trace_id: ids.trace, project_name: "two" })), [
      "in two",
    ]);
    assert.deepEqual(spanNames(await bound.traces(query)), ["in two"]);
    assert.deepEqual(spanNames(await bound.traces({ ...query, trace_id: ids.trace })), ["in two"]);
    assert.equal((await bound.ask("/observability/traces", { ...query, project_name: "one" }))[0], 403);
    assert.equal((await bound.ask("/observability/logs", { project_name: "one" }))[0], 403);
  });
});

describe("a query that is wrong", { timeout: 60_000 }, () => {
  const logs = "/observability/logs";
  const traces = "/observability/traces";
  const cases: [path: string, body: unknown, status: number, param: string | null, message: RegExp][] = [
    [logs, { severity: "fatal" }, 400, "severity", /"fatal".*"debug", "info", "warning", "error"/],
    [logs, { severity: "ERROR" }, 400, "severity", /"ERROR"/],
    [logs, { time_window: "1w" }, 400, "time_window", /"1w".*m \(minutes\), h \(hours\) or d \(days\)/],
    [logs, { time_window: "0h" }, 400, "time_window", /"0h".*at least 1/],
    [logs, { time_window: 24 }, 400, "time_window", /24/],
    [logs, { limit: 0 }, 400, "limit", /0.*1 to 5000/],
    [logs, { limit: 5001 }, 400, "limit", /5001.*1 to 5000/],
    [logs, { limit: "5" }, 400, "limit", /"5".*integer/],
    [logs, { limit: 1.5 }, 400, "limit", /1\.5.*integer/],
    [logs, { project_name: "" }, 400, "project_name", /non-empty/],
    [logs, { project: "x" }, 400, "project", /not a known field; known are .*project_name/],
    [logs, { organization_id: "other" }, 403, "organization_id", /"other"/],
    [logs, [], 400, null, /\[\].*object/],
    [logs, "{", 400, null, /not valid JSON/],
    [logs, '{"limit":1,"limit":2}', 400, "limit", /twice in the body.*1.*2/],
    [`${logs}?limit=1&limit=2`, {}, 400, "limit", /twice in the query string/],
    [`${logs}?limit=x`, {}, 400, "limit", /"x".*integer/],
    [`${logs}?nonsense=1`, {}, 400, "nonsense", /not a known field/],
    [traces, {}, 400, "trace", /missing/],
    [traces, { trace: null }, 400, "trace", /null/],
    [traces, { trace: "inference" }, 400, "trace", /"inference".*"inference_traces"/],
    [traces, { trace: "all_traces", trace_id: "123" }, 400, "trace_id", /"123"/],
    [traces, { trace: "all_traces", trace_id: "g".repeat(32) }, 400, "trace_id", /matches/],
    [traces, { trace: "all_traces", limit: 1001 }, 400, "limit", /1001.*1 to 1000/],
    [traces, { trace: "all_traces", detail: "no" }, 400, "detail", /"no".*true or false/],
    [traces, { trace: "all_traces", time_window: "-1h" }, 400, "time_window", /"-1h"/],
    [`${traces}?detail=yes`, { trace: "all_traces" }, 400, "detail", /"yes"/],
  ];
  for (const [path, body, status, param, message] of cases) {
    test(`${path} ${JSON.stringify(body)} says what`, async () => {
      const [seen, text] = await own.ask(path, body);
      const { error } = JSON.parse(text) as { error: { message: string; param: string | null } };
      assert.equal(seen, status, text);
      assert.equal(error.param, param);
      assert.match(error.message, message);
    });
  }

  test("needs a key with the permission telemetry_read", async () => {
    const { secret } = await admin<{ secret: string }>("/keys", { name: "writer", permissions: ["telemetry_write"] });
    for (const path of [logs, traces]) {
      assert.equal((await fetch(`${server.url}${path}`, { method: "POST" })).status, 401);
      assert.equal((await tenant(secret).ask(path, { trace: "all_traces" }))[0], 403);
    }
  });
});

describe("two organizations with the same names, IDs, labels and sessions", { timeout: 120_000 }, () => {
  /** Sends the same data with other values. */
  async function fill({ sender }: Tenant, value: string): Promise<void> {
    const resource = { "service.name": "shop", "project.name": "p", "host.name": "h" };
    const severities = [5, 9, 13, 17];
    await sender.logs(
      resource,
      severities.map((severityNumber, index) => ({
        unixNano: start + BigInt(index),
        body: `${value} ${severityNumber}`,
        more: { severityNumber, traceId: ids.trace, spanId: ids.root },
      })),
    );
    await sender.spans(resource, [
      {
        traceId: ids.trace,
        spanId: ids.root,
        name: `invoke_agent ${value}`,
        startUnixNano: start,
        duration: 6_000_000_000n,
        attributes: { "gen_ai.operation.name": "invoke_agent", "session.id": "s", organization_id: "other", value },
      },
      {
        traceId: ids.trace,
        spanId: ids.child,
        name: `chat ${value}`,
        startUnixNano: start + 1n,
        attributes: { "gen_ai.operation.name": "chat", large: value.repeat(2000) },
        more: { parentSpanId: ids.root, status: { code: 2, message: value } },
      },
    ]);
  }

  /** The bytes of the responses of every operation with every parameter. */
  async function askEverything(of: Tenant): Promise<string[]> {
    const projects = [undefined, "p", "default"];
    const logQueries = projects.flatMap((project_name) => [
      { project_name, limit: 1 },
      { project_name, time_window: "30d" },
      ...["debug", "info", "warning", "error"].map((severity) => ({ project_name, severity })),
    ]);
    const presets = ["all", "inference", "agent", "distiller", "error", "slow", "checkout"].map(
      (name) => `${name}_traces`,
    );
    const traceFilters = [
      ...[...presets, "quick_failures"].map((trace) => ({ trace, time_window: "1d", limit: 3 })),
      ...[ids.trace, "c".repeat(32)].map((trace_id) => ({ trace: "all_traces", trace_id })),
    ];
    // Every filter and every project with and without details.
    const traceQueries = traceFilters.flatMap((filter, row) =>
      projects.map((project_name, column) => ({ ...filter, project_name, detail: (row + column) % 2 === 0 })),
    );
    const queries = [
      ...logQueries.map((query) => ["/observability/logs", query] as const),
      ...traceQueries.map((query) => ["/observability/traces", query] as const),
    ];
    return Promise.all(queries.map(async ([path, query]) => (await of.ask(path, query)).join(" ")));
  }

  test("never affect each other's responses, byte for byte", async () => {
    const [one, two] = [await newTenant(), await newTenant()];
    const empty = await askEverything(two);
    await fill(one, "one");
    assert.deepEqual(await askEverything(two), empty, "who has nothing sees nothing");
    const alone = await askEverything(one);
    await fill(two, "two");
    await two.sender.spans({ "service.name": "shop", "project.name": "p" }, [
      { traceId: "c".repeat(32), spanId: ids.root, name: "only of two", startUnixNano: start },
    ]);
    assert.deepEqual(await askEverything(one), alone);
    assert.ok(!alone.join().includes("two"));
    const other = await askEverything(two);
    assert.ok(!other.join().includes(" one"));
    assert.ok(
      alone.some((answer) => answer.includes("chat one")) && other.some((answer) => answer.includes("only of two")),
    );
  });
});
