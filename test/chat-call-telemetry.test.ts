/** Every chat call appears in the telemetry of its caller's project, with the real server and its real store. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { startScriptedUpstream, type ScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { attributesOf, contentOf, newTrace, spansOf } from "./support/call-spans.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

let upstream: ScriptedUpstream;
let server: RunningServer;
let client: AsyncSounding;

beforeTests(async (stack) => {
  upstream = await startScriptedUpstream(() => {});
  stack.defer(() => upstream.close());
  server = stack.use(
    await startServer(
      `
server: { trusted_proxies: [loopback] }
redaction: { everywhere: { kinds: [iban], patterns: { codeword: "xyzzy[0-9]+" } } }
engines:
  first: { type: openai_compatible, base_url: "${upstream.url}/v1" }
  second: { type: openai_compatible, base_url: "${upstream.url}/v1" }
models:
  one: { targets: [{ engine: first, model: m }] }
  two: { targets: [{ engine: first, model: m }, { engine: second, model: m }], retries: { attempts: 1, backoff_ms: 1 } }
`,
      { telemetry: true },
    ),
  );
  await untilTelemetryReady(server);
  client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
});

const messages = [
  { role: "system" as const, content: "Be brief." },
  { role: "user" as const, content: "What is a fathom?" },
];
const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };

function answerWell(): void {
  upstream.script = (exchange) =>
    exchange.answer({
      id: "chatcmpl-7f1c52aa90d3",
      object: "chat.completion",
      created: 1,
      model: "m-2026",
      choices: [{ index: 0, message: { role: "assistant", content: "Six feet." }, finish_reason: "stop" }],
      usage,
    });
}

function streamWell(): void {
  const head = { id: "chatcmpl-8f1c52aa90d3", object: "chat.completion.chunk", created: 1, model: "m-2026" };
  upstream.script = async (exchange) => {
    exchange.beginEvents();
    for (const [content, finish_reason] of [
      ["Six ", null],
      ["feet.", "stop"],
    ] as const) {
      await exchange.sendEvents({ ...head, choices: [{ index: 0, delta: { content }, finish_reason }] });
    }
    await exchange.sendEvents({ ...head, choices: [], usage }, "[DONE]");
    exchange.end();
  };
}

describe("a chat call", { timeout: 120_000 }, () => {
  test("is a span in the caller's trace with what OpenTelemetry's conventions ask for", async () => {
    answerWell();
    const { traceId, headers } = newTrace();
    await client.chat.completions.create(
      { model: "one", messages, temperature: 0.5, stop: ["x"], max_completion_tokens: 40, seed: 3 },
      { headers: { ...headers, "x-request-id": "call-1", "x-forwarded-for": "203.0.113.9" } },
    );
    const [span] = await spansOf(client, traceId, 1);
    assert.equal(span!.name, "chat one");
    assert.equal(span!.kind, "SPAN_KIND_CLIENT");
    assert.deepEqual(span!.status, {});
    assert.equal(span!.parentSpanId, Buffer.from("00f067aa0ba902b7", "hex").toString("base64"));
    const { "sounding.key.id": keyId, "sounding.key.name": keyName, ...attributes } = attributesOf(span!);
    assert.match(String(keyId), /^key_/);
    assert.equal(keyName, "first key");
    assert.deepEqual(attributes, {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "first",
      "gen_ai.request.model": "one",
      "gen_ai.request.max_tokens": "40",
      "gen_ai.request.temperature": 0.5,
      "gen_ai.request.seed": "3",
      "gen_ai.request.stop_sequences": { values: [{ stringValue: "x" }] },
      "client.address": "203.0.113.9",
      "sounding.request.id": "call-1",
      "sounding.engine": "first",
      "gen_ai.response.id": "chatcmpl-7f1c52aa90d3",
      "gen_ai.response.model": "one",
      "gen_ai.response.finish_reasons": { values: [{ stringValue: "stop" }] },
      "gen_ai.usage.input_tokens": "12",
      "gen_ai.usage.output_tokens": "5",
    });
  });

  test("says for whom and in which conversation it was made, and is found, counted and deleted by that", async () => {
    answerWell();
    const bodies = [
      [
        { user: "ada", metadata: { session_id: "trip-1" } },
        { "x-user-id": "other", "x-session-id": "other" },
      ],
      [{ safety_identifier: "ada" }, { "x-session-id": "trip-1" }],
      [{}, { "x-user-id": "bob", "x-session-id": "x".repeat(1025) }],
    ] as const;
    const found: Record<string, unknown>[] = [];
    for (const [body, named] of bodies) {
      const { traceId, headers } = newTrace();
      await client.chat.completions.create({ model: "one", messages, ...body }, { headers: { ...headers, ...named } });
      found.push(attributesOf((await spansOf(client, traceId, 1))[0]!));
    }
    assert.deepEqual(
      found.map((each) => [each["user.id"], each["gen_ai.conversation.id"]]),
      [
        ["ada", "trip-1"],
        ["ada", "trip-1"],
        ["bob", undefined],
      ],
    );
    const keyId = String(found[0]!["sounding.key.id"]);
    const tracesOf = async (filter: object): Promise<number> =>
      (await client.traces.query({ trace: "all_traces", time_window: "1h", ...filter })).traces.length;
    assert.equal(await tracesOf({ user_id: "ada" }), 2);
    assert.equal(await tracesOf({ conversation_id: "trip-1" }), 2);
    assert.equal(await tracesOf({ user_id: "ada", key_id: "key_other" }), 0);
    assert.ok((await tracesOf({ key_id: keyId })) >= 3);
    const callsOf = async (filter: object): Promise<string | undefined> => {
      const { data } = await client.metrics.query({ metric: "inference_requests_total", ...filter });
      return (data.result[0] as { value?: [number, string] } | undefined)?.value?.[1];
    };
    assert.equal(await callsOf({ user_id: "ada" }), "2");
    assert.equal(await callsOf({ user_id: "ada", key_id: keyId }), "2");
    assert.equal(await callsOf({ user_id: "nobody" }), undefined);
    const query = "sum by (user_id, key_name) (increase(inference_requests_total{user_id!=''}[1h]))";
    const response = await fetch(`${server.url}/prometheus/api/v1/query?query=${encodeURIComponent(query)}`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    const { data } = (await response.json()) as { data: { result: { metric: object; value: [number, string] }[] } };
    assert.deepEqual(
      data.result
        .map(({ metric, value }) => ({ ...metric, calls: value[1] }))
        .toSorted((one, other) => Number(other.calls) - Number(one.calls)),
      [
        { user_id: "ada", key_name: "first key", calls: "2" },
        { user_id: "bob", key_name: "first key", calls: "1" },
      ],
    );
  });

  test("is recorded without what the server redacts, which is counted", async () => {
    answerWell();
    const { traceId, headers } = newTrace();
    const named = { "x-user-id": "DE89 3704 0044 0532 0130 00", "x-session-id": "of xyzzy42" };
    await client.chat.completions.create({ model: "one", messages }, { headers: { ...headers, ...named } });
    const attributes = attributesOf((await spansOf(client, traceId, 1))[0]!);
    assert.equal(attributes["user.id"], "[redacted: iban]");
    assert.equal(attributes["gen_ai.conversation.id"], "of [redacted: codeword]");
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(metrics, /^sounding_redactions_total\{kind="iban"\} 1$/m);
    assert.match(metrics, /^sounding_redactions_total\{kind="codeword"\} 1$/m);
  });

  test("that is streamed records the time of its first chunk", async () => {
    streamWell();
    const { traceId, headers } = newTrace();
    for await (const chunk of await client.chat.completions.create(
      { model: "one", messages, stream: true },
      { headers },
    ))
      assert.ok(chunk.id);
    const attributes = attributesOf((await spansOf(client, traceId, 1))[0]!);
    assert.equal(attributes["gen_ai.request.stream"], true);
    assert.equal(typeof attributes["gen_ai.response.time_to_first_chunk"], "number");
    assert.deepEqual([attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]], ["12", "5"]);
    assert.deepEqual(attributes["gen_ai.response.finish_reasons"], { values: [{ stringValue: "stop" }] });
  });

  test("that fell back has its attempts as child spans", async () => {
    let requests = 0;
    upstream.script = (exchange) => {
      requests += 1;
      if (requests === 1) return exchange.answer({ error: { message: "down" } }, 503);
      answerWell();
      return upstream.script(exchange);
    };
    const { traceId, headers } = newTrace();
    await client.chat.completions.create({ model: "two", messages }, { headers });
    const spans = await spansOf(client, traceId, 3);
    const call = spans.find(({ name }) => name === "chat two")!;
    const attempts = spans.filter((span) => span.parentSpanId === call.spanId);
    assert.equal(attempts.length, 2);
    assert.deepEqual(attempts.map((span) => span.status.code ?? "unset").sort(), ["STATUS_CODE_ERROR", "unset"]);
    assert.equal(attributesOf(call)["sounding.attempts"], "2");
    assert.ok(attempts.every((span) => attributesOf(span)["gen_ai.operation.name"] === undefined));
  });

  test("that fails is an error span and a log record of the same trace", async () => {
    upstream.script = (exchange) => exchange.answer({ error: { message: "broken inside" } }, 500);
    const { traceId, headers } = newTrace();
    await assert.rejects(client.chat.completions.create({ model: "one", messages }, { headers }));
    const [span] = await spansOf(client, traceId, 1);
    assert.equal(span!.status.code, "STATUS_CODE_ERROR");
    assert.equal(attributesOf(span!)["error.type"], "upstream_failed");
    const logs = await client.logs.query({ severity: "error" });
    const sample = logs.samples.find(({ stream }) => stream["trace_id"] === traceId)!;
    assert.equal(sample.stream["service_name"], "sounding");
    assert.match(sample.values[0]![1], /^Chat completion with one failed: /);
  });

  test("for a model that does not exist is a failed span and a warning", async () => {
    const { traceId, headers } = newTrace();
    await assert.rejects(client.chat.completions.create({ model: "none", messages }, { headers }));
    const [span] = await spansOf(client, traceId, 1);
    assert.equal(attributesOf(span!)["error.type"], "model_not_found");
    const logs = await client.logs.query({ severity: "warning" });
    assert.ok(logs.samples.some(({ stream }) => stream["trace_id"] === traceId));
  });

  test("that is refused has its real duration, also below a millisecond", async () => {
    for (let call = 0; call < 5; call += 1) {
      const { traceId, headers } = newTrace();
      await assert.rejects(client.chat.completions.create({ model: "none", messages }, { headers }));
      const [span] = await spansOf(client, traceId, 1);
      assert.ok(BigInt(span!.endTimeUnixNano!) > BigInt(span!.startTimeUnixNano!));
    }
  });

  test("starts its own trace if the caller's is malformed", async () => {
    answerWell();
    for (const traceparent of [
      "00-zz",
      `00-${"0".repeat(32)}-00f067aa0ba902b7-01`,
      `ff-${"a".repeat(32)}-00f067aa0ba902b7-01`,
    ]) {
      await client.chat.completions.create(
        { model: "one", messages },
        { headers: { traceparent, "x-project": "malformed" } },
      );
    }
    for (;;) {
      const { traces, spans } = await client.traces.query({ trace: "inference_traces", project_name: "malformed" });
      if (traces.length < 3) continue;
      assert.equal(traces.length, 3);
      assert.ok(spans.every((span) => span.parentSpanId === undefined));
      break;
    }
  });

  test("records no prompt and no answer unless the project's settings enable it, and the call does not turn it off", async () => {
    const admin = (path: string, body: unknown) =>
      fetch(`${server.url}/admin/v1${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const made = await admin("/projects", { name: "recorded", settings: { record_content: true } });
    assert.equal(made.status, 201, await made.clone().text());
    const silent = { name: "silent", record_content: false };
    const { secret } = (await (await admin("/keys", silent)).json()) as { secret: string };
    const contents: unknown[] = [];
    for (const [project, respond, stream, choice] of [
      ["default", answerWell, false, {}],
      ["default", answerWell, false, { "x-record-content": "true" }],
      ["recorded", answerWell, false, { "x-record-content": "false" }],
      ["recorded", streamWell, true, { "x-record-content": "flase" }],
      ["recorded", answerWell, false, { "x-record-content": "true" }],
      ["recorded", streamWell, true, {}],
      ["recorded", answerWell, false, { authorization: `Bearer ${secret}`, "x-record-content": "true" }],
    ] as const) {
      respond();
      const { traceId, headers } = newTrace();
      const params = { model: "one", messages };
      const options = { headers: { ...headers, ...choice, "x-project": project } };
      if (stream) {
        for await (const chunk of await client.chat.completions.create({ ...params, stream }, options))
          assert.ok(chunk);
      } else await client.chat.completions.create(params, options);
      contents.push(contentOf((await spansOf(client, traceId, 1))[0]!));
    }
    const recorded = [
      [{ type: "text", content: "Be brief." }],
      [{ role: "user", parts: [{ type: "text", content: "What is a fathom?" }] }],
      [{ role: "assistant", parts: [{ type: "text", content: "Six feet." }], finish_reason: "stop" }],
    ];
    const none = [undefined, undefined, undefined];
    assert.deepEqual(contents, [none, none, none, none, recorded, recorded, none]);
  });
});
