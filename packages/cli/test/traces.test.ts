import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { failure, json, startScriptedServer } from "../../client/test/scripted-server.ts";
import { run } from "../src/run.ts";
import { widthOf } from "../src/terminal/text-width.ts";
import { runSounding, type Outcome } from "./run-sounding.ts";

const server = await startScriptedServer();
const env = { SOUNDING_API_KEY: "sk-test", SOUNDING_BASE_URL: server.url };

function sounding(words: readonly string[]): Promise<Outcome> {
  return runSounding(words, { env });
}

/** The command in a terminal of this width. */
async function inTerminal(words: readonly string[], width: number): Promise<string> {
  const stdout = new PassThrough({ highWaterMark: 1_000_000 });
  await run(words, {
    stdin: Readable.from([]),
    stdout,
    stderr: new PassThrough(),
    isTTY: { stdin: false, stdout: true, stderr: false },
    terminalWidth: width,
    env: { ...env, NO_COLOR: "1" },
    signal: new AbortController().signal,
    abortedExitCode: () => 130,
  });
  stdout.end();
  return await text(stdout);
}

const first = "1795229417000000000";

const trace = {
  traceID: "0af7651916cd43dd8448eb211c80319c",
  rootServiceName: "shop",
  rootTraceName: "GET /",
  startTimeUnixNano: first,
  durationMs: 1200,
  summary: {
    spanCount: 5,
    errorCount: 1,
    status: "unset",
    durationNanos: "1200000000",
    models: [
      { model: "small", calls: 1, inputTokens: 12, outputTokens: 3 },
      { model: "large", calls: 2, inputTokens: 2000, outputTokens: 300 },
    ],
    cost: null as number | null,
  },
};

const refused = {
  ...trace,
  traceID: "1af7651916cd43dd8448eb211c80319c",
  rootTraceName: "chat none",
  durationMs: 0,
  summary: { ...trace.summary, spanCount: 1, status: "error", durationNanos: "350000", models: [], cost: 0.0042 },
};

function span(id: number, name: string, more: Record<string, unknown> = {}): object {
  const [startMs, endMs] = (more["at"] ?? [0, 1200]) as [number, number];
  return {
    spanId: `id${id}`,
    name,
    startTimeUnixNano: String(BigInt(first) + BigInt(startMs) * 1_000_000n),
    endTimeUnixNano: String(BigInt(first) + BigInt(endMs) * 1_000_000n),
    status: {},
    ...more,
  };
}

const resource = (name: string) => ({ attributes: [{ key: "service.name", value: { stringValue: name } }] });

describe("sounding traces", { timeout: 60_000 }, () => {
  test("lists status, spans, models, tokens and real durations", async () => {
    server.answer(json({ traces: [trace, { ...refused, summary: { ...refused.summary, cost: null } }] }));
    assert.deepEqual(await sounding(["traces", "--preset", "error_traces", "-n", "5", "--utc"]), {
      code: 0,
      stdout: [
        "TRACE                             BEGAN                   TOOK  STATUS      SPANS  NAME       SERVICE  MODEL     TOKENS",
        "0af7651916cd43dd8448eb211c80319c  2026-11-21 02:50:17Z  1.20 s  ✓ 1 failed      5  GET /      shop     large +1   2.31k",
        "1af7651916cd43dd8448eb211c80319c  2026-11-21 02:50:17Z  350 µs  ✗ error         1  chat none  shop",
        "",
      ].join("\n"),
      stderr: "",
    });
    assert.deepEqual(JSON.parse(server.requests[0]!.body), {
      trace: "error_traces",
      time_window: "24h",
      limit: 5,
      detail: false,
    });
  });

  test("sends its filters, and says that nothing matches them", async () => {
    server.answer(json({ traces: [] }));
    const filters = ["--service", "shop", "--model", "large", "--conversation", "c1", "--search", "declined"];
    assert.deepEqual(await sounding(["traces", ...filters, "--min-duration", "500"]), {
      code: 0,
      stdout: "",
      stderr: "No traces match in the last 24h.\n",
    });
    assert.deepEqual(JSON.parse(server.requests[0]!.body), {
      trace: "all_traces",
      service_name: "shop",
      model: "large",
      conversation_id: "c1",
      search: "declined",
      min_duration_ms: 500,
      time_window: "24h",
      limit: 20,
      detail: false,
    });
    assert.match((await sounding(["traces", "--min-duration", "1s"])).stderr, /--min-duration is "1s"/);
  });

  test("shows the cost if there are prices, and fits a terminal", async () => {
    const hostile = {
      ...refused,
      rootTraceName: `\u001b[2J\u202e${"漢".repeat(200)}\n`,
      rootServiceName: "s".repeat(300),
    };
    for (const width of [40, 80, 120, 200]) {
      server.answer(json({ traces: [trace, hostile] }));
      const lines = (await inTerminal(["traces", "--status", "error"], width)).trimEnd().split("\n");
      assert.equal(lines.length, 3);
      for (const line of lines) assert.ok(widthOf(line) <= width, line);
      assert.doesNotMatch(lines.join(""), /\p{Cc}|\p{Bidi_Control}/u);
      assert.equal(lines[0]!.endsWith("COST"), width >= 80);
      assert.equal(lines[2]!.endsWith("0.0042"), width >= 80);
      assert.equal(lines[2]!.startsWith(`${refused.traceID} `), width >= 110);
      assert.equal((JSON.parse(server.requests[0]!.body) as { trace: string }).trace, "error_traces");
    }
  });

  test("finds a trace by the start of its ID, and lists them if there are several", async () => {
    server.answer(json({ traces: [trace, refused] }), json({ traces: [{ ...trace, batches: [] }] }));
    assert.match((await sounding(["traces", "0af76519"])).stdout, /^Trace 0af7651916cd43dd8448eb211c80319c\n/);
    assert.equal((JSON.parse(server.requests[1]!.body) as { trace_id: string }).trace_id, trace.traceID);
    server.answer(json({ traces: [trace, { ...refused, traceID: trace.traceID.replace(/.$/, "d") }] }));
    const several = await sounding(["traces", "0af76519"]);
    assert.deepEqual(
      [several.code, several.stderr.split("\n")[0]],
      [
        2,
        "sounding: several traces start with 0af76519: 0af7651916cd43dd8448eb211c80319c, 0af7651916cd43dd8448eb211c80319d",
      ],
    );
    server.answer(json({ traces: [] }));
    assert.match(
      (await sounding(["traces", "0af76519"])).stderr,
      /no trace starts with 0af76519 among the newest 1000/,
    );
    assert.match((await sounding(["traces", "0af7"])).stderr, /trace-id is "0af7"; it must be 32 hexadecimal digits/);
  });

  test("suggests the preset that was meant", async () => {
    const message = 'trace is "eror_traces"; expected one of "all_traces", "error_traces".';
    server.answer(failure(400, {}, { message, param: "trace" }));
    const { code, stderr } = await sounding(["traces", "--preset", "eror_traces"]);
    assert.deepEqual(
      [code, stderr.split("\n")[0]],
      [2, 'sounding: --preset is "eror_traces"; did you mean "error_traces"?'],
    );
  });

  test("shows one as a tree over its services", async () => {
    const failed = { status: { code: "STATUS_CODE_ERROR", message: "gone" } };
    server.answer(
      json({
        traces: [
          {
            ...trace,
            batches: [
              {
                resource: resource("database"),
                scopeSpans: [{ spans: [span(3, "query", { parentSpanId: "id2", at: [600, 900], ...failed })] }],
              },
              {
                resource: resource("shop"),
                scopeSpans: [
                  { spans: [span(4, "render", { parentSpanId: "id1", at: [900, 1200] }), span(1, "GET /")] },
                  { spans: [span(2, "load", { parentSpanId: "id1", at: [300, 900] })] },
                  { spans: [span(9, "lost", { parentSpanId: "gone", at: [1199, 1200] })] },
                ],
              },
            ],
          },
        ],
      }),
    );
    const { code, stdout } = await sounding(["traces", trace.traceID, "--utc"]);
    assert.equal(code, 0);
    assert.deepEqual(stdout.split("\n"), [
      "Trace 0af7651916cd43dd8448eb211c80319c",
      "2026-11-21 02:50:17.000Z · 1.20 s · 5 spans · 1 error",
      "",
      "GET /        shop        1.20 s  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━",
      "├─ load      shop        600 ms  ·······━━━━━━━━━━━━━━━━·······",
      "│  └─ query  database    300 ms  ···············━━━━━━━━·······  ✗ gone",
      "└─ render    shop        300 ms  ······················━━━━━━━━",
      "lost         shop       1.00 ms  ·····························━",
      "",
    ]);
    assert.deepEqual(JSON.parse(server.requests[0]!.body), { trace: "all_traces", trace_id: trace.traceID });
  });

  test("shows attributes and events on request, in a tree that fits the terminal", async () => {
    const spans = [
      span(1, `invoke ${"x".repeat(300)}`, {
        attributes: [
          { key: "gen_ai.usage.input_tokens", value: { intValue: "812" } },
          { key: "list", value: { arrayValue: { values: [{ stringValue: "a\u001b[31m" }] } } },
        ],
        events: [{ name: "retry", attributes: [{ key: "attempt", value: { intValue: "2" } }] }],
      }),
    ];
    const answer = { traces: [{ ...trace, batches: [{ resource: resource("shop"), scopeSpans: [{ spans }] }] }] };
    server.answer(json(answer));
    const { stdout } = await sounding(["traces", trace.traceID, "--attributes"]);
    assert.match(stdout, /━ {2}812 → 0 tokens$/m);
    assert.match(stdout, /^ {4}gen_ai\.usage\.input_tokens = 812$/m);
    assert.match(stdout, /^ {4}list = .*"stringValue":"a\\u001b\[31m"/m);
    assert.match(stdout, /^ {4}event retry: attempt = 2$/m);
    server.answer(json(answer));
    for (const line of (await inTerminal(["traces", trace.traceID, "-a"], 60)).split("\n")) {
      assert.ok(widthOf(line) <= 60, line);
    }
  });

  test("fails for a trace that does not exist", async () => {
    server.answer(json({ traces: [] }));
    const { code, stderr } = await sounding(["traces", trace.traceID]);
    assert.deepEqual([code, stderr], [5, `sounding: the trace ${trace.traceID} does not exist\n`]);
  });
});
