/** Prompts with long texts: every reader of a prompt gets all of it, on each way that a call can take. Telemetry stores them encrypted. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import {
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from "../packages/server/test/support/scripted-upstream.ts";
import { contentOf, newTrace, spansOf } from "./support/call-spans.ts";
import { beforeTests } from "./support/hooks.ts";
import { anthropicMessage, chatCompletion } from "./support/messages-server.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";

const long = `${'A "quoted" word, é and 😀.\n'.repeat(2_000)}The end: secret-4711.`;
const messages = [
  { role: "user", content: long },
  { role: "assistant", content: "Yes." },
  { role: "user", content: [{ type: "text", text: `Again. ${long}` }] },
];

const response = { id: "resp_1", object: "response", created_at: 1, model: "m", status: "completed", output: [] };

const answerChat: Script = async (exchange) => {
  if (exchange.path.endsWith("/messages")) return exchange.answer(anthropicMessage([{ type: "text", text: "Hi" }]));
  if (exchange.path.endsWith("/responses")) return exchange.answer(response);
  if ((exchange.json as { stream?: boolean }).stream !== true)
    return exchange.answer(chatCompletion({ content: "Hi" }));
  exchange.beginEvents();
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
  await exchange.sendEvents(
    { ...head, choices: [{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: "stop" }] },
    "[DONE]",
  );
  exchange.end();
};

describe("a long prompt", () => {
  let upstream: ScriptedUpstream;
  let broken: ScriptedUpstream;
  let server: RunningServer;
  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream(answerChat);
    stack.defer(() => upstream.close());
    broken = await startScriptedUpstream((exchange) => exchange.answer({ error: { message: "down" } }, 500));
    stack.defer(() => broken.close());
    server = stack.use(
      await startServer(
        `
discovery: { enabled: false }
content_encryption: { key: "${randomBytes(32).toString("hex")}" }
engines:
  chat: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [upstream] }
  native: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [upstream], wires: [messages, responses] }
  broken: { type: openai_compatible, base_url: "${broken.url}/v1", models: [upstream] }
  vendor: { type: anthropic, api_key: key, base_url: "${upstream.url}/v1", models: [upstream] }
models:
  chat: { targets: [{ engine: chat, model: upstream }] }
  native: { targets: [{ engine: native, model: upstream }] }
  vendor: { targets: [{ engine: vendor, model: upstream }] }
  falling: { targets: [{ engine: broken, model: upstream }], fallbacks: [vendor], retries: { attempts: 1 } }
guardrails:
  numbers:
    type: rules
    rules: [{ category: illicit, patterns: ["secret-[0-9]+"], action: redact }]
    projects: [guarded]
`,
        { telemetry: true },
      ),
    );
    await untilTelemetryReady(server);
    for (const project of [{ name: "guarded" }, { name: "recorded", settings: { record_content: true } }]) {
      const made = await fetch(`${server.url}/admin/v1/projects`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.operatorKey}`, "content-type": "application/json" },
        body: JSON.stringify(project),
      });
      assert.equal(made.status, 201, await made.text());
    }
  });

  const sent = (): Buffer => upstream.exchanges.at(-1)!.body;
  const call = async (path: string, body: object | string, headers: Record<string, string> = {}): Promise<string> => {
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return text;
  };

  test("is forwarded byte for byte, except for the model's name", async () => {
    const rest = `"messages": ${JSON.stringify(messages, undefined, 1)},\n "temperature" :0.50`;
    await call("/v1/chat/completions", `{ "model":"chat", ${rest} }`);
    assert.equal(sent().toString(), `{${rest},"model":"upstream"}`);
    await call("/v1/messages", `{ "max_tokens":5, "model":"native", ${rest} }`);
    assert.equal(sent().toString(), `{"max_tokens":5,${rest},"model":"upstream"}`);
  });

  test("reaches the upstream whole where members of extra_body are merged", async () => {
    const tools = [{ type: "function", function: { name: "f", description: long, parameters: {} } }];
    await call("/v1/chat/completions", { model: "chat", messages, extra_body: { tools } });
    assert.deepEqual(JSON.parse(sent().toString()), { model: "upstream", messages, tools });
  });

  for (const stream of [false, true]) {
    test(`reaches ${stream ? "a stream of " : ""}another API whole`, async () => {
      const content = (): unknown => (JSON.parse(sent().toString()) as { messages: { content: unknown }[] }).messages;
      await call("/v1/messages", { model: "chat", max_tokens: 5, messages, stream });
      assert.deepEqual(content(), [messages[0], messages[1], { role: "user", content: `Again. ${long}` }]);
      const input = [{ role: "user", content: [{ type: "input_text", text: long }] }];
      await call("/v1/responses", { model: "chat", input, store: false, stream });
      assert.deepEqual(content(), [messages[0]]);
    });
  }

  for (const model of ["vendor", "falling"]) {
    test(`reaches a vendor's API whole, as the model ${model}`, async () => {
      await call("/v1/chat/completions", { model, messages, max_tokens: 5 });
      const [first, , last] = (JSON.parse(sent().toString()) as { messages: { content: { text: string }[] }[] })
        .messages;
      assert.equal(first!.content[0]!.text, long);
      assert.equal(last!.content[0]!.text, `Again. ${long}`);
    });
  }

  test("is stored whole with its response", async () => {
    const input = [{ role: "user", content: long }];
    const { id } = JSON.parse(await call("/v1/responses", { model: "native", input })) as { id: string };
    const stored = await fetch(`${server.url}/v1/responses/${id}/input_items`, {
      headers: { authorization: `Bearer ${server.key}` },
    });
    const { data } = (await stored.json()) as { data: { content: string }[] };
    assert.equal(data[0]!.content, long);
  });

  test("reaches the upstream whole in the background", async () => {
    const input = [{ role: "user", content: long }];
    const before = upstream.exchanges.length;
    await call("/v1/responses", { model: "chat", input, background: true });
    await upstream.until(() => upstream.exchanges.length > before, "a call in the background");
    assert.deepEqual((JSON.parse(sent().toString()) as { messages: object[] }).messages, [messages[0]]);
  });

  test("is checked whole by guardrails", async () => {
    await call("/v1/chat/completions", { model: "chat", messages }, { "x-project": "guarded" });
    assert.ok(!sent().includes("secret-4711"));
    assert.ok(sent().includes("The end: "));
  });

  test("is recorded whole where the project records it", async () => {
    const { traceId, headers } = newTrace();
    const request = { model: "native", max_tokens: 5, messages };
    await call("/v1/messages", request, { ...headers, "x-project": "recorded" });
    const client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
    const spans = await spansOf(client, traceId, 1);
    const recorded = JSON.stringify(spans.flatMap(contentOf));
    assert.ok(recorded.includes("secret-4711"), recorded.slice(-500));
  });

  test("is shown by its own text where it is refused", async () => {
    const wrong = [messages[0], { role: "user", content: [{ type: "text", text: [long] }] }];
    const refusal = await server.call("/v1/chat/completions", { model: "chat", messages: wrong });
    const { error } = (await refusal.json()) as { error: { message: string } };
    assert.equal(refusal.status, 400);
    assert.match(error.message, /A \\"quoted\\" word, é and 😀\.\\nA \\"quoted/);
  });
});
