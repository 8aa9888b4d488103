/** Filters, pages and histograms of trace queries, and lists of conversations: sent over OTLP, stored in the real store. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { otlpSender, type OtlpSender, type SentSpan } from "./support/otlp-sender.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

interface Trace {
  readonly traceID: string;
  readonly rootTraceName: string;
  readonly summary: Readonly<Record<string, unknown>>;
}
interface Answers {
  readonly traces: { traces: Trace[]; next_cursor?: string | null };
  readonly "traces/histogram": {
    step_seconds: number;
    buckets: {
      start: string;
      traces: number;
      failed: number;
      duration_ms: { p50: number | null; p95: number | null };
    }[];
  };
  readonly conversations: { data: Record<string, unknown>[]; next_cursor: string | null };
}
interface Tenant {
  readonly sender: OtlpSender;
  ask(path: keyof Answers, body: object, query?: string): Promise<Response>;
  read<Path extends keyof Answers>(path: Path, body: object, query?: string): Promise<Answers[Path]>;
  /** The names of the traces that match, newest first. */
  names(body: object): Promise<string[]>;
}

const configuration = `
telemetry:
  token_prices: { large: { input: 2, output: 10 } }
  trace_presets: { checkout_traces: { description: Traces of the checkout., services: [shop] } }
`;
const hostile = `x' OR 1=1 --"} \\'\u0000%_\`;`;
const second = 1_000_000_000n;
/** The beginning of a minute, so that buckets are known. */
const startMs = Math.floor((Date.now() - 600_000) / 60_000) * 60_000;
const start = BigInt(startMs) * 1_000_000n;

let server: RunningServer;
let tenants = 0;
beforeTests(async (stack) => {
  server = stack.use(await startServer(configuration, { telemetry: true }));
  await untilTelemetryReady(server);
});

async function newTenant(): Promise<Tenant> {
  const admin = async (path: string, body: object): Promise<Record<string, string>> => {
    const answer = await server.call(`/admin/v1${path}`, body, { authorization: `Bearer ${server.operatorKey}` });
    return (await answer.json()) as Record<string, string>;
  };
  const { id } = await admin("/organizations", { name: `tenant-${(tenants += 1)}` });
  const permissions = ["telemetry_read", "telemetry_write"];
  const { secret } = await admin("/keys", { organization_id: id, name: "all", permissions });
  const ask = (path: string, body: object, query = ""): Promise<Response> =>
    server.call(`/observability/${path}${query}`, body, { authorization: `Bearer ${secret}` });
  const read = async <Path extends keyof Answers>(path: Path, body: object, query?: string): Promise<Answers[Path]> => {
    const response = await ask(path, body, query);
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as Answers[Path];
  };
  return {
    sender: otlpSender(server.url, secret!),
    ask,
    read,
    names: async (body) =>
      (await read("traces", { trace: "all_traces", detail: false, ...body })).traces.map((each) => each.rootTraceName),
  };
}

const traceId = (number: number): string => number.toString(16).padStart(32, "a");
const spanId = (number: number): string => number.toString(16).padStart(16, "b");

let spans = 0;
function span(trace: number, name: string, more: Partial<SentSpan> & { parent?: boolean } = {}): SentSpan {
  const { parent = false, ...rest } = more;
  return {
    traceId: traceId(trace),
    spanId: spanId((spans += 1)),
    name,
    startUnixNano: start + BigInt(trace) * second,
    ...rest,
    more: { ...(parent ? { parentSpanId: spanId(0) } : {}), ...rest.more },
  };
}

const failed = { status: { code: 2, message: "The card was DECLINED" } };
const prompt = JSON.stringify([
  { role: "user", parts: [{ type: "text", content: `Say "Grüße"\n${"x".repeat(2000)}` }] },
]);

/** Five traces of two services; each organization has the same, apart from the mark. */
async function sendExamples({ sender }: Tenant, mark: string): Promise<void> {
  await sender.spans({ "service.name": "shop", "project.name": "p", "host.name": "h1" }, [
    span(1, `${mark} buy`, { duration: 3n * second, more: failed }),
    span(2, `${mark} ask`, { attributes: { "session.id": "s1" } }),
    span(2, `chat large`, {
      parent: true,
      duration: 2_500_000n,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "large",
        "gen_ai.response.model": "large-2026",
        "gen_ai.conversation.id": "c1",
        "gen_ai.usage.input_tokens": 1000n,
        "gen_ai.usage.output_tokens": 100n,
        "gen_ai.input.messages": prompt,
      },
    }),
    span(3, `${mark} ${hostile}`, { attributes: { [hostile]: hostile, "session.id": hostile, "http.status": 503n } }),
  ]);
  await sender.spans({ "service.name": "till", "project.name": "q", "host.name": "h2" }, [
    span(4, `${mark} pay`, { more: { status: { code: 1 } }, attributes: { "session.id": "c1" } }),
    span(4, "retry", { parent: true, more: failed }),
  ]);
  await sender.spans({ "project.name": "p" }, [
    span(5, `${mark} by nobody`, {
      more: {
        events: [
          {
            timeUnixNano: String(start + 5n * second),
            name: "exception",
            attributes: [{ key: "exception.stacktrace", value: { stringValue: "at frobnicate (shop.ts:1)" } }],
          },
        ],
      },
    }),
  ]);
}

/** Each filter with the traces that it leaves, newest first, without the mark. */
const filters: readonly (readonly [filter: object, names: readonly string[]])[] = [
  [{}, ["by nobody", "pay", hostile, "ask", "buy"]],
  [{ service_name: "till" }, ["pay"]],
  [{ service_name: "unknown_service" }, ["by nobody"]],
  [{ service_name: hostile }, []],
  [{ operation: "chat" }, ["ask"]],
  [{ model: "large" }, ["ask"]],
  [{ model: "large-2026" }, ["ask"]],
  [{ model: "larg" }, []],
  [{ status: "error" }, ["pay", "buy"]],
  [{ status: "ok" }, ["pay"]],
  [{ status: "unset" }, ["by nobody", hostile, "ask"]],
  [{ min_duration_ms: 2000 }, ["buy"]],
  [{ min_duration_ms: 2.5, max_duration_ms: 2.5 }, ["ask"]],
  [{ max_duration_ms: 0.5 }, []],
  [{ attributes: { "http.status": 503 } }, [hostile]],
  [{ attributes: { "http.status": "50" } }, []],
  [{ attributes: { [hostile]: hostile } }, [hostile]],
  [{ attributes: { "host.name": "h2" } }, ["pay"]],
  [{ attributes: { "host.name": "h1", "http.status": 503 } }, [hostile]],
  [{ conversation_id: "c1" }, ["pay", "ask"]],
  [{ conversation_id: hostile }, [hostile]],
  [{ search: "BUY" }, ["buy"]],
  [{ search: "card was declined" }, ["pay", "buy"]],
  [{ search: 'say "grüße"' }, ["ask"]],
  [{ search: "frobnicate" }, ["by nobody"]],
  [{ search: hostile }, [hostile]],
  [{ search: "large-2026", project_name: "p" }, ["ask"]],
  [{ search: "frobnicate", project_name: "q" }, []],
  // One span must match all filters.
  [{ service_name: "till", status: "error", search: "retry" }, ["pay"]],
  [{ service_name: "till", status: "ok", search: "retry" }, []],
  [{ trace: "error_traces", conversation_id: "c1" }, []],
  [{ trace: "inference_traces", conversation_id: "c1" }, ["ask"]],
  [{ start: String(start + 2n * second), end: String(start + 4n * second) }, [hostile, "ask"]],
  [{ end: new Date(startMs + 2000).toISOString(), time_window: "30m" }, ["buy"]],
];

describe("trace queries", { timeout: 120_000 }, () => {
  let own: Tenant;
  let stranger: Tenant;
  beforeTests(async () => {
    [own, stranger] = [await newTenant(), await newTenant()];
    await sendExamples(own, "own");
    await sendExamples(stranger, "strange");
  });

  for (const [filter, names] of filters) {
    test(`with ${JSON.stringify(filter)} return the matching traces of the organization`, async () => {
      assert.deepEqual(
        await own.names(filter),
        names.map((name) => `own ${name}`),
      );
      assert.deepEqual(
        await stranger.names(filter),
        names.map((name) => `strange ${name}`),
      );
    });

    test(`with ${JSON.stringify(filter)} count the same traces`, async () => {
      const { buckets } = await own.read("traces/histogram", filter);
      assert.equal(
        buckets.reduce((sum, bucket) => sum + bucket.traces, 0),
        names.length,
      );
    });
  }

  test("take filters from the query string too", async () => {
    const query = `?service_name=till&attributes=${encodeURIComponent('{"host.name":"h2"}')}&min_duration_ms=0.5`;
    const { traces } = await own.read("traces", { trace: "all_traces", detail: false }, query);
    assert.deepEqual(
      traces.map(({ rootTraceName }) => rootTraceName),
      ["own pay"],
    );
  });

  test("refuse values that mean nothing", async () => {
    for (const [param, body] of [
      ["status", { status: "bad" }],
      ["min_duration_ms", { min_duration_ms: 5, max_duration_ms: 4 }],
      ["min_duration_ms", { min_duration_ms: -1 }],
      ["max_duration_ms", { max_duration_ms: "long" }],
      ["attributes", { attributes: { a: [] } }],
      ["search", { search: "" }],
      ["conversation_id", { conversation_id: "" }],
      ["start", { start: "yesterday" }],
      ["start", { start: String(start), time_window: "1h" }],
      ["cursor", { cursor: "x" }],
      ["cursor", { cursor: Buffer.from('["1","a","-1"]').toString("base64url") }],
    ] as const) {
      const response = await own.ask("traces", { trace: "all_traces", ...body });
      assert.equal(response.status, 400);
      const { error } = (await response.json()) as { error: { param: string } };
      assert.equal(error.param.split(".")[0], param, JSON.stringify(body));
    }
  });

  test("accept the presets that are listed, those of the configuration included", async () => {
    const response = await fetch(`${server.url}/observability/traces`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    const { data } = (await response.json()) as { data: { name: string; description: string }[] };
    assert.deepEqual(data.at(-1), { name: "checkout_traces", description: "Traces of the checkout." });
    assert.equal(data.length, 7);
    for (const { name } of data) assert.equal((await own.ask("traces", { trace: name })).status, 200, name);
  });

  test("with a cursor name the projects and services of each trace, with and without spans", async () => {
    for (const detail of [true, false]) {
      const { traces, next_cursor } = await own.read("traces", { trace: "all_traces", cursor: "", detail });
      assert.equal(next_cursor, null);
      const byName = new Map(traces.map(({ rootTraceName, summary }) => [rootTraceName, summary]));
      const { projects, services } = byName.get("own pay")!;
      assert.deepEqual([projects, services], [["q"], ["till"]]);
      assert.deepEqual(byName.get("own by nobody")!["services"], []);
    }
    const { traces, ...rest } = await own.read("traces", { trace: "all_traces", detail: false });
    assert.deepEqual(rest, {});
    assert.ok(traces.every(({ summary }) => !("projects" in summary)));
  });
});

describe("pages of traces", { timeout: 120_000 }, () => {
  /** 300 traces, 100 of them at the same time, and one that goes on for as long as all others together. */
  let tenant: Tenant;
  beforeTests(async () => {
    tenant = await newTenant();
    const short = Array.from({ length: 300 }, (_, index) =>
      span(1000 + index, `short ${index}`, { startUnixNano: start + BigInt(Math.max(index - 100, 0)) * second }),
    );
    const long = Array.from({ length: 50 }, (_, index) =>
      span(999, "long", { startUnixNano: start + BigInt(index * 4) * second, parent: index > 0 }),
    );
    await tenant.sender.spans({ "service.name": "busy", "project.name": "p" }, [...short, ...long]);
  });

  async function pages(body: object): Promise<{ names: string[]; sizes: number[] }> {
    const names: string[] = [];
    const sizes: number[] = [];
    for (let cursor: string | null | undefined = ""; cursor != null;) {
      const page: Answers["traces"] = await tenant.read("traces", {
        trace: "all_traces",
        detail: false,
        ...body,
        cursor,
      });
      names.push(...page.traces.map(({ rootTraceName }) => rootTraceName));
      sizes.push(page.traces.length);
      cursor = page.next_cursor;
    }
    return { names, sizes };
  }

  const all = ["long", ...Array.from({ length: 300 }, (_, index) => `short ${index}`)].sort();
  for (const limit of [43, 100, 301, 1000]) {
    for (const body of [{}, { project_name: "p" }, { search: "o" }]) {
      test(`of ${limit} with ${JSON.stringify(body)} contain each trace once`, async () => {
        const { names, sizes } = await pages({ ...body, limit });
        assert.deepEqual(names.toSorted(), all);
        assert.ok(sizes.slice(0, -1).every((size) => size === limit));
      });
    }
  }

  test("do not repeat traces that have newer spans when the next page is read", async () => {
    const body = { trace: "all_traces", limit: 150, detail: false };
    const first = await tenant.read("traces", { ...body, cursor: "" });
    const listed = new Set(first.traces.map(({ rootTraceName }) => rootTraceName));
    await tenant.sender.spans({ "service.name": "busy", "project.name": "p" }, [
      span(1300, "late part", { startUnixNano: start + 220n * second, parent: true }),
      span(2000, "new", { startUnixNano: start + 230n * second }),
    ]);
    const following = await tenant.read("traces", { ...body, cursor: first.next_cursor! });
    const next = following.traces.map(({ rootTraceName }) => rootTraceName);
    assert.equal(next.length, 150);
    assert.deepEqual(
      next.filter((name) => listed.has(name) || name === "new"),
      [],
    );
  });
});

describe("a histogram of traces", { timeout: 120_000 }, () => {
  let tenant: Tenant;
  beforeTests(async () => {
    tenant = await newTenant();
    const at = (seconds: number): bigint => start + BigInt(seconds) * second;
    const traces = Array.from({ length: 20 }, (_, index) =>
      span(100 + index, "work", { startUnixNano: at(60), duration: BigInt(index + 1) * 1_000_000n }),
    );
    await tenant.sender.spans({ "service.name": "shop" }, [
      ...traces,
      // One that failed, and one that succeeded although a part failed.
      span(200, "root", { startUnixNano: at(121), duration: 2n * second, more: failed }),
      span(201, "root", { startUnixNano: at(122), duration: second }),
      span(201, "part", { startUnixNano: at(122), parent: true, more: failed }),
      // One that began before the range and goes on after it.
      span(202, "across", { startUnixNano: at(-30), duration: 10n * second }),
      span(202, "inside", { startUnixNano: at(1), parent: true }),
      span(202, "after", { startUnixNano: at(190), duration: 10n * second, parent: true }),
      // And others that are not in the range.
      span(203, "before", { startUnixNano: at(-5) }),
      span(204, "after", { startUnixNano: at(180) }),
    ]);
  });
  const range = { start: String(start), end: String(start + 180n * second) };
  const bucket = (offset: number, [traces, wrong]: [number, number], [p50, p95]: [number | null, number | null]) => ({
    start: new Date(startMs + offset * 1000).toISOString(),
    traces,
    failed: wrong,
    duration_ms: { p50, p95 },
  });

  test("has the traces that started in each interval, with failures and exact durations", async () => {
    assert.deepEqual(await tenant.read("traces/histogram", { ...range, step: "1m" }), {
      step_seconds: 60,
      buckets: [
        bucket(0, [1, 0], [230_000, 230_000]),
        bucket(60, [20, 0], [11, 20]),
        bucket(120, [2, 1], [2000, 2000]),
      ],
    });
  });

  test("includes intervals without traces, and the whole trace of a span that matches", async () => {
    assert.deepEqual(await tenant.read("traces/histogram", { ...range, step: "60s", status: "error" }), {
      step_seconds: 60,
      buckets: [bucket(0, [0, 0], [null, null]), bucket(60, [0, 0], [null, null]), bucket(120, [2, 1], [2000, 2000])],
    });
  });

  for (const [window, step] of [
    ["1m", 1],
    ["15m", 10],
    ["1h", 30],
    ["24h", 900],
    ["7d", 7200],
    ["30d", 21_600],
    ["3650d", 4_320_000],
  ] as const) {
    test(`chooses about a hundred buckets for ${window}`, async () => {
      const { step_seconds, buckets } = await tenant.read("traces/histogram", { time_window: window });
      assert.equal(step_seconds, step);
      assert.ok(buckets.length >= 48 && buckets.length <= 122, String(buckets.length));
      assert.ok(Date.parse(buckets[0]!.start) % (step * 1000) === 0);
    });
  }

  test("refuses a step that is none, or that gives too many buckets", async () => {
    for (const step of ["0s", "1.5m", "x", "-1m", "1"]) {
      assert.match(await (await tenant.ask("traces/histogram", { step })).text(), /expected an integer/, step);
    }
    const response = await tenant.ask("traces/histogram", { step: "1s", time_window: "1h" });
    assert.deepEqual([response.status, /at most 1000 buckets.*3600/.test(await response.text())], [400, true]);
  });
});

describe("conversations", { timeout: 120_000 }, () => {
  let own: Tenant;
  let stranger: Tenant;
  beforeTests(async () => {
    [own, stranger] = [await newTenant(), await newTenant()];
    await sendExamples(own, "own");
    await sendExamples(stranger, "strange");
    await stranger.sender.spans({}, [span(77, "only here", { attributes: { "session.id": "secret" } })]);
  });
  const ids = async (tenant: Tenant, body: object): Promise<unknown[]> =>
    (await tenant.read("conversations", body)).data.map(({ id }) => id);

  test("have turns, calls, errors, tokens, cost, models, services and projects of their traces", async () => {
    const { data, next_cursor } = await own.read("conversations", { conversation_id: "c1" });
    assert.equal(next_cursor, null);
    assert.deepEqual(data, [
      {
        id: "c1",
        started_at: new Date(startMs + 2000).toISOString(),
        ended_at: new Date(startMs + 4001).toISOString(),
        turns: 2,
        calls: 1,
        errors: 1,
        input_tokens: 1000,
        output_tokens: 100,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        cost: 0.003,
        models: [
          {
            model: "large",
            calls: 1,
            input_tokens: 1000,
            output_tokens: 100,
            cache_read_tokens: 0,
            cache_write_tokens: 0,
          },
        ],
        projects: ["p", "q"],
        services: ["shop", "till"],
      },
    ]);
  });

  test("are listed newest first, each organization's own", async () => {
    assert.deepEqual(await ids(own, {}), ["c1", hostile, "s1"]);
    assert.deepEqual(await ids(stranger, {}), ["secret", "c1", hostile, "s1"]);
    assert.deepEqual(await ids(own, { conversation_id: "secret" }), []);
  });

  for (const [filter, expected] of [
    [{ project_name: "q" }, ["c1"]],
    // Ordered by the spans of the service.
    [{ service_name: "shop" }, [hostile, "c1", "s1"]],
    [{ service_name: "till" }, ["c1"]],
    [{ search: "X' or" }, [hostile]],
    [{ search: "1" }, ["c1", hostile, "s1"]],
    [{ conversation_id: hostile }, [hostile]],
    [{ end: String(start + 2n * second) }, []],
    [{ end: String(start + 3n * second) }, ["c1", "s1"]],
  ] as const) {
    test(`with ${JSON.stringify(filter)} are those that match`, async () => {
      assert.deepEqual(await ids(own, filter), expected);
    });
  }

  test("are read page by page, each once", async () => {
    const tenant = await newTenant();
    const turns = Array.from({ length: 90 }, (_, index) =>
      span(index, "turn", {
        startUnixNano: start + BigInt(index) * second,
        attributes: { "session.id": `c${index % 30}` },
      }),
    );
    await tenant.sender.spans({}, turns);
    const found: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: Answers["conversations"] = await tenant.read("conversations", { limit: 7, cursor });
      assert.ok(page.data.every((each) => each["turns"] === 3));
      found.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    }
    assert.deepEqual(
      found,
      Array.from({ length: 30 }, (_, index) => `c${29 - index}`),
    );
    assert.equal((await tenant.ask("conversations", { cursor: "x" })).status, 400);
  });
});
