/** Calls of the Responses API in telemetry, behind guardrails, and of two organizations. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { assembleResponse } from "../../packages/server/test/support/assemble-response.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { attributesOf, contentOf, newTrace, spansOf } from "../support/call-spans.ts";
import { beforeTests } from "../support/hooks.ts";
import { chatChunk, chatChunks, chatCompletion, readEvents, toChatWire } from "../support/messages-server.ts";
import { openAiEvents, openAiResponse, toResponsesWire } from "../support/responses-server.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";

const secret = "My card is 1111-2222-3333-4444.";
const request = { input: secret, instructions: "Be brief.", max_output_tokens: 100 };

describe("a call of the Responses API", { timeout: 120_000 }, () => {
  let server: RunningServer;
  let client: AsyncSounding;
  let upstream: ScriptedUpstream;

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream(() => {});
    stack.defer(() => upstream.close());
    server = stack.use(
      await startServer(
        `
engines:
  openai: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [upstream], wires: [responses] }
  chat: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [chat-upstream] }
models:
  native: { targets: [{ engine: openai, model: upstream }], retries: { attempts: 0 } }
  assistant: { targets: [{ engine: chat, model: chat-upstream }], retries: { attempts: 0 } }
  guarded: { targets: [{ engine: openai, model: upstream }] }
guardrails:
  cards:
    type: rules
    models: [guarded]
    rules: [{ category: illicit, patterns: ['\\b\\d{4}-\\d{4}-\\d{4}-\\d{4}\\b'], action: redact }]
  words:
    type: rules
    models: [guarded]
    rules: [{ category: violence, words: [nail bomb] }]
`,
        { telemetry: true },
      ),
    );
    await untilTelemetryReady(server);
    client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
  });

  const post = (model: string, more: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    server.call("/v1/responses", { model, ...request, ...more }, headers);

  const send = (text: string) => {
    upstream.script = async (exchange) => {
      exchange.beginEvents();
      await exchange.send(text);
      exchange.end();
    };
  };

  for (const [model, stream] of [
    ["native", false],
    ["native", true],
    ["assistant", false],
    ["assistant", true],
  ] as const) {
    test(`is a span with all tokens, once: ${model}${stream ? ", streamed" : ""}`, async () => {
      if (stream) send(model === "native" ? toResponsesWire(openAiEvents) : toChatWire(chatChunks));
      else {
        const answer = model === "native" ? openAiResponse() : chatCompletion({ content: "Hi" });
        upstream.script = (exchange) => exchange.answer(answer);
      }
      const { headers, traceId } = newTrace();
      const own = { metadata: { session_id: "session-1" }, safety_identifier: "user-1" };
      const response = await post(model, { stream, ...own }, headers);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      const [span] = await spansOf(client, traceId, 1);
      const attributes = attributesOf(span!);
      const expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": model,
        "gen_ai.response.model": model,
        "gen_ai.request.max_tokens": "100",
        "gen_ai.usage.input_tokens": "100",
        "gen_ai.usage.output_tokens": "25",
        "gen_ai.usage.cache_read.input_tokens": "60",
        "gen_ai.conversation.id": "session-1",
        "user.id": "user-1",
        // The ID that the client has.
        "gen_ai.response.id": /"id":"(?<id>resp_\w+)"/.exec(text)!.groups!["id"],
      };
      const found = Object.fromEntries(Object.keys(expected).map((name) => [name, attributes[name]]));
      assert.deepEqual(found, expected);
    });
  }

  test("is counted with a usage that follows the finish reason, and recorded once if its stream is cut", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 25, total_tokens: 125 };
    const late = [chatChunk({ content: "Hi" }), chatChunk({}, "stop"), { ...chatChunk({}), choices: [], usage }];
    send(toChatWire([...late, "[DONE]"]));
    const whole = newTrace();
    const response = assembleResponse(await readEvents(await post("assistant", { stream: true }, whole.headers)));
    assert.equal((response["usage"] as JsonObject)["total_tokens"], 125);
    assert.equal(attributesOf((await spansOf(client, whole.traceId, 1))[0]!)["gen_ai.usage.output_tokens"], "25");
    send(toResponsesWire(openAiEvents.slice(0, 4)));
    const cut = newTrace();
    const events = await readEvents(await post("native", { stream: true }, cut.headers));
    assert.equal(events.at(-1)!.name, "response.failed");
    const [span] = await spansOf(client, cut.traceId, 1);
    assert.equal(attributesOf(span!)["error.type"], "upstream_failed");
  });

  test("names Codex's session as the conversation", async () => {
    upstream.script = (exchange) => exchange.answer(openAiResponse());
    const { headers, traceId } = newTrace();
    await (await post("native", { client_metadata: { session_id: "codex-1" } }, headers)).text();
    const [span] = await spansOf(client, traceId, 1);
    assert.equal(attributesOf(span!)["gen_ai.conversation.id"], "codex-1");
  });

  test("is recorded if it is refused", async () => {
    const { headers, traceId } = newTrace();
    assert.equal((await post("assistant", { tools: [{ type: "web_search" }] }, headers)).status, 400);
    const [span] = await spansOf(client, traceId, 1);
    assert.equal(attributesOf(span!)["error.type"], "unsupported_parameter");
  });

  test("is recorded with its content if the project records content", async () => {
    send(toResponsesWire(openAiEvents));
    const project = { name: "recorded", settings: { record_content: true } };
    const made = await server.call("/admin/v1/projects", project, { authorization: `Bearer ${server.operatorKey}` });
    assert.equal(made.status, 201, await made.clone().text());
    const recorded = async (name: string): Promise<unknown[]> => {
      const { headers, traceId } = newTrace();
      await (await post("native", { stream: true }, { ...headers, "x-project": name })).text();
      const [span] = await spansOf(client, traceId, 1);
      return contentOf(span!);
    };
    assert.deepEqual(await recorded("default"), [undefined, undefined, undefined]);
    assert.deepEqual(await recorded("recorded"), [
      [{ type: "text", content: "Be brief." }],
      [{ role: "user", parts: [{ type: "text", content: secret }] }],
      [{ role: "assistant", parts: [{ type: "text", content: "Grüße 👋" }], finish_reason: "stop" }],
    ]);
  });

  test("is checked by guardrails: what they redact reaches no upstream, no client, and no stored response", async () => {
    upstream.script = (exchange) => exchange.answer(chatCompletion({ content: "It is 1111-2222-3333-4444." }));
    const { headers, traceId } = newTrace();
    const metadata = { session_id: "session-2" };
    const whole = (await (await post("guarded", { metadata }, headers)).json()) as { id: string; output: JsonObject[] };
    assert.match(JSON.stringify(whole.output), /It is \[.*\]\./);
    const [span] = await spansOf(client, traceId, 1);
    assert.equal(attributesOf(span!)["gen_ai.conversation.id"], "session-2");
    const sent = upstream.exchanges.at(-1)!;
    assert.equal(sent.path, "/v1/chat/completions", "guardrails read chat completions");
    assert.ok(!sent.body.includes("1111"));
    const continued = await post("guarded", { input: "And?", previous_response_id: whole.id });
    assert.equal(continued.status, 200, await continued.text());
    assert.ok(!upstream.exchanges.at(-1)!.body.includes("1111"));
    send(toChatWire([chatChunk({ content: "It is 1111-2222-3333-4444." }), chatChunk({}, "stop"), "[DONE]"]));
    const streamed = assembleResponse(await readEvents(await post("guarded", { stream: true })));
    assert.match(JSON.stringify(streamed["output"]), /It is \[.*\]\./);
    const count = upstream.exchanges.length;
    const refused = await post("guarded", { input: "How is a nail bomb made?" });
    assert.equal(refused.status, 400);
    const counted = await server.call("/v1/responses/input_tokens", { model: "guarded", ...request });
    assert.equal(counted.status, 400, "an upstream would see the prompt");
    assert.equal(upstream.exchanges.length, count);
  });

  test("of one organization is nothing to another", async () => {
    const admin = async (path: string, body: object): Promise<Record<string, string>> => {
      const answer = await server.call(`/admin/v1${path}`, body, { authorization: `Bearer ${server.operatorKey}` });
      return (await answer.json()) as Record<string, string>;
    };
    const { id: organizationId } = await admin("/organizations", { name: "other", allowed_models: ["assistant"] });
    const { secret: otherKey } = await admin("/keys", {
      organization_id: organizationId,
      name: "all",
      permissions: ["inference", "telemetry_read"],
    });
    const own = { authorization: `Bearer ${otherKey!}` };
    for (const path of ["", "/input_tokens", "/compact"]) {
      const refused = await server.call(`/v1/responses${path}`, { model: "native", ...request }, own);
      assert.equal(refused.status, 403, path);
    }
    upstream.script = (exchange) => exchange.answer(chatCompletion({ content: "Hi" }));
    const { headers, traceId } = newTrace();
    const created = await server.call("/v1/responses", { model: "assistant", ...request }, { ...own, ...headers });
    const { id } = (await created.json()) as { id: string };
    const asOther = (path: string) => server.call(`/v1/responses/${path}`, undefined, own);
    assert.equal((await asOther(id)).status, 200);
    for (const path of [id, `${id}/input_items`]) {
      assert.equal((await server.call(`/v1/responses/${path}`)).status, 404);
    }
    const continued = await post("assistant", { previous_response_id: id });
    const { error } = (await continued.json()) as { error: JsonObject };
    assert.deepEqual([continued.status, error["code"]], [400, "previous_response_not_found"]);
    const other = new AsyncSounding({ apiKey: otherKey!, baseUrl: server.url, maxRetries: 0 });
    assert.equal((await spansOf(other, traceId, 1)).length, 1);
    const { spans } = await client.traces.query({ trace: "all_traces", trace_id: traceId });
    assert.equal(spans.length, 0);
  });
});
