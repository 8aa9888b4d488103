/** Calls of the Messages API in telemetry, behind guardrails, and of two organizations. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { assembleMessage } from "../../packages/server/test/support/assemble-message.ts";
import { attributesOf, contentOf, newTrace, spansOf } from "../support/call-spans.ts";
import { beforeTests } from "../support/hooks.ts";
import {
  anthropicEvents,
  anthropicMessage,
  chatChunks,
  chatCompletion,
  readEvents,
  toChatWire,
  toWire,
} from "../support/messages-server.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../support/running-server.ts";

const session = "8bd65746-8b8c-4d9c-bccd-fad04ee83e5b";
const userId = JSON.stringify({ device_id: "device-1", account_uuid: "", session_id: session });
const request = {
  max_tokens: 100,
  thinking: { type: "adaptive" },
  system: [{ type: "text", text: "Be brief." }],
  messages: [{ role: "user", content: [{ type: "text", text: "My card is 1111-2222-3333-4444." }] }],
};

describe("a call of the Messages API", { timeout: 120_000 }, () => {
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
  anthropic: { type: anthropic, api_key: upstream-key, base_url: "${upstream.url}/v1", models: [claude-upstream] }
  chat: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [chat-upstream] }
models:
  claude: { targets: [{ engine: anthropic, model: claude-upstream }] }
  assistant: { targets: [{ engine: chat, model: chat-upstream }] }
  guarded: { targets: [{ engine: chat, model: chat-upstream }] }
  guarded-claude: { targets: [{ engine: anthropic, model: claude-upstream }] }
guardrails:
  cards:
    type: rules
    models: [guarded*]
    rules: [{ category: illicit, patterns: ['\\b\\d{4}-\\d{4}-\\d{4}-\\d{4}\\b'], action: redact }]
  words:
    type: rules
    models: [guarded*]
    rules: [{ category: violence, words: [nail bomb] }]
`,
        { telemetry: true },
      ),
    );
    await untilTelemetryReady(server);
    client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
  });

  const post = (model: string, more: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    server.call("/v1/messages", { model, ...request, ...more }, headers);

  for (const [model, stream] of [
    ["claude", false],
    ["claude", true],
    ["assistant", false],
    ["assistant", true],
  ] as const) {
    test(`is a span with all tokens, once: ${model}${stream ? ", streamed" : ""}`, async () => {
      upstream.script = async (exchange) => {
        if (!stream && model === "claude") return exchange.answer(anthropicMessage([{ type: "text", text: "Hi" }]));
        if (!stream) return exchange.answer(chatCompletion({ content: "Hi" }));
        exchange.beginEvents();
        await exchange.send(model === "claude" ? toWire(anthropicEvents) : toChatWire(chatChunks));
        return exchange.end();
      };
      const { headers, traceId } = newTrace();
      const own = { "x-claude-code-session-id": session, "x-claude-code-agent-id": "agent-7" };
      const response = await post(model, { stream }, { ...headers, ...own });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      const spans = await spansOf(client, traceId, 1);
      const attributes = attributesOf(spans[0]!);
      assert.equal(attributes["gen_ai.operation.name"], "chat");
      assert.equal(attributes["gen_ai.request.model"], model);
      assert.equal(attributes["gen_ai.response.model"], model);
      assert.equal(attributes["gen_ai.request.max_tokens"], "100");
      assert.equal(attributes["gen_ai.usage.input_tokens"], "100");
      assert.equal(attributes["gen_ai.usage.output_tokens"], "25");
      assert.equal(attributes["gen_ai.usage.cache_read.input_tokens"], "60");
      assert.equal(attributes["gen_ai.conversation.id"], session);
      assert.equal(attributes["gen_ai.agent.id"], "agent-7");
      const id = /"id":"(?<id>msg_\w+)"/.exec(text)?.groups?.["id"];
      assert.equal(attributes["gen_ai.response.id"], id, "the ID that the client has");
    });
  }

  test("names Claude Code's session and device also without its headers", async () => {
    upstream.script = (exchange) => exchange.answer(anthropicMessage([{ type: "text", text: "Hi" }]));
    const { headers, traceId } = newTrace();
    await (await post("claude", { metadata: { user_id: userId } }, headers)).text();
    const [span] = await spansOf(client, traceId, 1);
    const attributes = attributesOf(span!);
    assert.deepEqual([attributes["gen_ai.conversation.id"], attributes["user.id"]], [session, "device-1"]);
  });

  test("is recorded if it is refused", async () => {
    const { headers, traceId } = newTrace();
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    assert.equal((await post("assistant", { tools }, headers)).status, 400);
    const [span] = await spansOf(client, traceId, 1);
    assert.equal(attributesOf(span!)["error.type"], "unsupported_parameter");
  });

  test("is recorded with its content if the project records content", async () => {
    upstream.script = async (exchange) => {
      exchange.beginEvents();
      await exchange.send(toWire(anthropicEvents));
      exchange.end();
    };
    const project = { name: "recorded", settings: { record_content: true } };
    const made = await server.call("/admin/v1/projects", project, { authorization: `Bearer ${server.operatorKey}` });
    assert.equal(made.status, 201, await made.clone().text());
    const recorded = async (name: string): Promise<unknown[]> => {
      const { headers, traceId } = newTrace();
      await (await post("claude", { stream: true }, { ...headers, "x-project": name })).text();
      const [span] = await spansOf(client, traceId, 1);
      return contentOf(span!);
    };
    assert.deepEqual(await recorded("default"), [undefined, undefined, undefined]);
    const call = { type: "tool_call", id: "toolu_1", name: "read", arguments: { path: "x" } };
    assert.deepEqual(await recorded("recorded"), [
      [{ type: "text", content: "Be brief." }],
      [{ role: "user", parts: [{ type: "text", content: "My card is 1111-2222-3333-4444." }] }],
      [{ role: "assistant", parts: [{ type: "text", content: "Grüße 👋" }, call], finish_reason: "tool_calls" }],
    ]);
  });

  test("is checked by guardrails: what they redact reaches no upstream, and no client", async () => {
    upstream.script = (exchange) => exchange.answer(chatCompletion({ content: "It is 1111-2222-3333-4444." }));
    const whole = (await (await post("guarded")).json()) as { content: JsonObject[] };
    assert.match(String(whole.content[0]?.["text"]), /^It is \[.*\]\.$/);
    assert.ok(!upstream.exchanges.at(-1)!.body.includes("1111"));
    upstream.script = async (exchange) => {
      exchange.beginEvents();
      const text = { type: "text_delta", text: "It is 1111-2222-3333-4444." };
      await exchange.send(
        toWire([
          anthropicEvents[0]!,
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: text },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 25 } },
          { type: "message_stop" },
        ]),
      );
      exchange.end();
    };
    const streamed = assembleMessage(await readEvents(await post("guarded-claude", { stream: true })));
    assert.match(String(streamed.content[0]?.["text"]), /^It is \[.*\]\.$/);
    assert.ok(!upstream.exchanges.at(-1)!.body.includes("1111"));
    const count = upstream.exchanges.length;
    const messages = [{ role: "user", content: "How is a nail bomb made?" }];
    const refused = await post("guarded-claude", { messages });
    assert.equal(refused.status, 400);
    const { error, type } = (await refused.json()) as { type: string; error: JsonObject };
    assert.deepEqual([type, error["type"]], ["error", "invalid_request_error"]);
    const counted = await server.call("/v1/messages/count_tokens", { model: "guarded-claude", messages });
    assert.equal(counted.headers.get("x-token-count"), "estimate", "an upstream would see the prompt");
    assert.equal(upstream.exchanges.length, count);
  });

  test("has its marks of the prompt cache behind guardrails, too, at Anthropic only", async () => {
    const cache_control = { type: "ephemeral" };
    const marked = {
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Be kind.", cache_control },
      ],
      tools: [{ name: "read", input_schema: { type: "object" }, cache_control }],
      messages: [
        { role: "user", content: [{ type: "text", text: "My card is 1111-2222-3333-4444." }] },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "read", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "42", cache_control }] },
      ],
    };
    upstream.script = (exchange) => exchange.answer(anthropicMessage([{ type: "text", text: "Hi" }]));
    assert.equal((await post("guarded-claude", marked)).status, 200);
    const { messages, system, tools } = upstream.exchanges.at(-1)!.json as Record<string, JsonObject[]>;
    assert.deepEqual(system?.at(-1)?.["cache_control"], cache_control);
    assert.deepEqual(tools?.[0]?.["cache_control"], cache_control);
    const result = (messages!.at(-1)!["content"] as JsonObject[])[0];
    assert.deepEqual([result?.["type"], result?.["cache_control"]], ["tool_result", cache_control]);
    upstream.script = (exchange) => exchange.answer(chatCompletion({ content: "Hi" }));
    for (const model of ["guarded", "assistant"]) {
      assert.equal((await post(model, marked)).status, 200);
      assert.ok(!upstream.exchanges.at(-1)!.body.includes("cache_control"));
    }
  });

  test("of one organization is nothing to another", async () => {
    const admin = async (path: string, body: object): Promise<Record<string, string>> => {
      const answer = await server.call(`/admin/v1${path}`, body, { authorization: `Bearer ${server.operatorKey}` });
      return (await answer.json()) as Record<string, string>;
    };
    const { id } = await admin("/organizations", { name: "other", allowed_models: ["assistant"] });
    const { secret } = await admin("/keys", {
      organization_id: id,
      name: "all",
      permissions: ["inference", "telemetry_read"],
    });
    upstream.script = (exchange) => exchange.answer(chatCompletion({ content: "Hi" }));
    const { headers, traceId } = newTrace();
    const own = { authorization: `Bearer ${secret!}` };
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const refused = await server.call(path, { model: "claude", ...request }, own);
      assert.equal(refused.status, 403, path);
      assert.equal(((await refused.json()) as { error: JsonObject }).error["type"], "permission_error");
    }
    assert.equal(
      (await server.call("/v1/messages", { model: "assistant", ...request }, { ...own, ...headers })).status,
      200,
    );
    const listed = await server.call("/v1/models", undefined, { ...own, "anthropic-version": "2023-06-01" });
    const { data } = (await listed.json()) as { data: { id: string }[] };
    assert.deepEqual(
      data.map((model) => model.id),
      ["assistant"],
    );
    const other = new AsyncSounding({ apiKey: secret!, baseUrl: server.url, maxRetries: 0 });
    assert.equal((await spansOf(other, traceId, 1)).length, 1);
    const { spans } = await client.traces.query({ trace: "all_traces", trace_id: traceId });
    assert.equal(spans.length, 0);
  });
});
