import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { ChatRequest } from "../api/chat-request.ts";
import { MessageRequest } from "../api/messages-request.ts";
import { validate } from "../api/validate.ts";
import { prepareChat } from "../chat/prepare.ts";
import type { JsonObject } from "../json-object.ts";
import { describeRequest } from "./describe-request.ts";
import { fromCompletion } from "./from-completion.ts";
import { toChatRequest } from "./to-chat-request.ts";
import { toFunctionName } from "../chat/tool-names.ts";

const user = { role: "user" as const, content: "Hello" };

function ask(more: object): MessageRequest {
  return validate(MessageRequest, { model: "assistant", max_tokens: 100, messages: [user], ...more });
}

/** As a call prepares and sends it. */
function translate(more: object): ChatRequest {
  const { request } = prepareChat(validate(ChatRequest, toChatRequest(ask(more))));
  return JSON.parse(JSON.stringify(request)) as ChatRequest;
}

const messagesOf = (content: unknown, role = "user"): unknown =>
  translate({ messages: [{ role, content }, ...(role === "assistant" ? [user] : [])] }).messages;

function refusedAs(more: object, code = "unsupported_parameter"): string | null {
  let param: string | null = null;
  assert.throws(
    () => translate(more),
    (error: Error & { code?: string; param?: string }) => {
      param = error.param ?? null;
      return error.code === code && error.message.includes(String(param));
    },
  );
  return param;
}

describe("a request of the Messages API as a chat request", () => {
  test("translates the parameters", () => {
    assert.deepEqual(
      translate({
        system: "Be brief.",
        temperature: 0.5,
        top_p: 0.9,
        top_k: 40,
        stop_sequences: ["END"],
        stream: true,
        metadata: { user_id: "u-1" },
        service_tier: "standard_only",
        thinking: { type: "enabled", budget_tokens: 10_000 },
        output_config: { format: { type: "json_schema", schema: { type: "object" } } },
        chat_template_kwargs: { enable_thinking: true },
      }),
      {
        model: "assistant",
        messages: [{ role: "system", content: "Be brief." }, user],
        max_completion_tokens: 100,
        temperature: 0.5,
        top_p: 0.9,
        top_k: 40,
        stop: ["END"],
        stream: true,
        user: "u-1",
        service_tier: "default",
        reasoning_effort: "medium",
        response_format: {
          type: "json_schema",
          json_schema: { name: "response", schema: { type: "object" }, strict: true },
        },
        chat_template_kwargs: { enable_thinking: true },
      },
    );
  });

  test("translates budgets and efforts of thinking; the default effort, and thinking as the model sees fit, are none", () => {
    const effortOf = (more: object) => (translate(more) as JsonObject)["reasoning_effort"];
    assert.equal(effortOf({ thinking: { type: "enabled", budget_tokens: 1024 } }), "low");
    assert.equal(effortOf({ thinking: { type: "enabled", budget_tokens: 31_999 } }), "high");
    assert.equal(effortOf({ thinking: { type: "adaptive" }, output_config: { effort: "low" } }), "low");
    assert.equal(effortOf({ thinking: { type: "adaptive" }, output_config: { effort: "high" } }), undefined);
    assert.equal(effortOf({ thinking: { type: "disabled" } }), undefined);
  });

  test("translates tools in their order, and the choice among them", () => {
    const schema = { type: "object", properties: { path: { type: "string" } } };
    const tools = [
      { name: "write", description: "Writes.", input_schema: schema, cache_control: { type: "ephemeral" } },
      { type: "custom", name: "read", input_schema: schema, strict: true, input_examples: [{ path: "x" }] },
    ];
    const chat = translate({ tools, tool_choice: { type: "any", disable_parallel_tool_use: true } });
    assert.deepEqual(chat.tools, [
      { type: "function", function: { name: "write", description: "Writes.", parameters: schema } },
      {
        type: "function",
        function: { name: "read", parameters: { ...schema, examples: [{ path: "x" }] }, strict: true },
      },
    ]);
    assert.equal(chat.tool_choice, "required");
    assert.equal(chat.parallel_tool_calls, false);
    const choice = (value: object) => translate({ tools, tool_choice: value }).tool_choice;
    assert.equal(choice({ type: "auto" }), "auto");
    assert.equal(choice({ type: "none" }), "none");
    assert.deepEqual(choice({ type: "tool", name: "read" }), { type: "function", function: { name: "read" } });
    assert.equal(translate({ tool_choice: { type: "auto", disable_parallel_tool_use: true } }).tool_choice, undefined);
  });

  test("shortens long names of tools, the same everywhere, and the answer has the full name", () => {
    const name = `mcp__${"long_".repeat(20)}search`;
    const short = toFunctionName(name);
    assert.equal(short.length, 64);
    const request = ask({
      tools: [{ name, input_schema: { type: "object" } }],
      tool_choice: { type: "tool", name },
      messages: [
        user,
        { role: "assistant", content: [{ type: "tool_use", id: "a", name, input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "ok" }] },
      ],
    });
    const chat = prepareChat(validate(ChatRequest, toChatRequest(request))).request;
    assert.equal(chat.tools?.[0]?.function.name, short);
    assert.equal(chat.messages[1]?.tool_calls?.[0]?.function.name, short);
    const toolCall = { id: "b", type: "function" as const, function: { name: short, arguments: "{}" } };
    const { content } = fromCompletion(
      {
        id: "1",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: null, tool_calls: [toolCall] },
            finish_reason: "tool_calls",
          },
        ],
      },
      request,
    );
    assert.deepEqual(content, [{ type: "tool_use", id: "b", name, input: {} }]);
  });

  test("translates the blocks of content", () => {
    assert.deepEqual(messagesOf([{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }]), [
      { role: "user", content: "Hi" },
    ]);
    const png = { type: "base64", media_type: "image/png", data: "AAAA" };
    assert.deepEqual(
      messagesOf([
        { type: "image", source: png },
        { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
        {
          type: "document",
          source: { ...png, media_type: "application/pdf" },
          title: "report.pdf",
          context: "Read it.",
        },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "Plain." }, title: "Notes" },
        { type: "document", source: { type: "content", content: [{ type: "text", text: "Part." }] } },
        {
          type: "search_result",
          title: "A page",
          source: "https://example.com",
          content: [{ type: "text", text: "Found." }],
        },
      ]),
      [
        {
          role: "user",
          content: [
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
            { type: "image_url", image_url: { url: "https://example.com/a.png" } },
            { type: "text", text: "Read it." },
            { type: "file", file: { file_data: "data:application/pdf;base64,AAAA", filename: "report.pdf" } },
            ...["Notes", "Plain.", "Part.", "A page", "https://example.com", "Found."].map((text) => ({
              type: "text",
              text,
            })),
          ],
        },
      ],
    );
  });

  test("translates results of tools: text stays, images follow, and a failure is an error in words", () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    assert.deepEqual(
      messagesOf([
        { type: "tool_result", tool_use_id: "a", content: "42" },
        { type: "tool_result", tool_use_id: "b", content: [{ type: "text", text: "Denied." }], is_error: true },
        { type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "A picture:" }, image] },
        { type: "tool_result", tool_use_id: "d", is_error: true },
        { type: "text", text: "Go on." },
      ]),
      [
        { role: "tool", tool_call_id: "a", content: "42" },
        { role: "tool", tool_call_id: "b", content: "Error: Denied." },
        {
          role: "tool",
          tool_call_id: "c",
          content: [
            { type: "text", text: "A picture:" },
            { type: "text", text: "[attachment 1]" },
          ],
        },
        { role: "tool", tool_call_id: "d", content: "Error:" },
        {
          role: "user",
          content: [
            { type: "text", text: "[attachment 1]" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
            { type: "text", text: "Go on." },
          ],
        },
      ],
    );
  });

  test("keeps Anthropic's thinking with its signature", () => {
    assert.deepEqual(
      messagesOf(
        [
          { type: "thinking", thinking: "Hm.", signature: "sig" },
          { type: "redacted_thinking", data: "c2VjcmV0" },
          { type: "text", text: "Reading." },
          { type: "tool_use", id: "a", name: "read", input: { path: "x" } },
        ],
        "assistant",
      ),
      [
        {
          role: "assistant",
          content: "Reading.",
          reasoning_details: [
            { type: "reasoning.text", text: "Hm.", signature: "sig", format: "anthropic" },
            { type: "reasoning.encrypted", data: "c2VjcmV0", format: "anthropic" },
          ],
          tool_calls: [{ id: "a", type: "function", function: { name: "read", arguments: '{"path":"x"}' } }],
        },
        user,
      ],
    );
  });

  test("accepts system messages among the others", () => {
    assert.deepEqual(
      translate({ messages: [user, { role: "system", content: [{ type: "text", text: "Now." }] }] }).messages,
      [user, { role: "system", content: "Now." }],
    );
  });

  test("accepts what Claude Code sends to any model", () => {
    const more = { context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } };
    assert.ok(!("context_management" in translate(more)));
  });

  test("refuses by name what chat completions cannot express", () => {
    assert.equal(refusedAs({ tools: [{ type: "web_search_20250305", name: "web_search" }] }), "tools[0].type");
    const tool = { name: "a", input_schema: {} };
    assert.equal(refusedAs({ tools: [{ ...tool, defer_loading: true }] }), "tools[0].defer_loading");
    assert.equal(refusedAs({ mcp_servers: [{}] }), "mcp_servers");
    assert.equal(refusedAs({ container: "c" }), "container");
    assert.equal(refusedAs({ context_management: { edits: [{ type: "compact_20260112" }] } }), "context_management");
    assert.equal(refusedAs({ stop_sequences: ["a", "b", "c", "d", "e"] }), "stop_sequences");
    assert.equal(refusedAs({ max_tokens: 0 }), "max_tokens");
    assert.equal(refusedAs({ output_config: { task_budget: 5 } }), "output_config.task_budget");
    assert.equal(
      refusedAs({ messages: [user, { role: "assistant", content: "The answer is (" }] }),
      "messages[1].role",
    );
    const block = (content: object) => refusedAs({ messages: [{ role: "user", content: [content] }] });
    assert.equal(block({ type: "container_upload", file_id: "f" }), "messages[0].content[0].type");
    assert.equal(
      block({ type: "image", source: { type: "file", file_id: "f" } }),
      "messages[0].content[0].source.type",
    );
    const url = { type: "url", url: "https://example.com/a.pdf" };
    assert.equal(block({ type: "document", source: url }), "messages[0].content[0].source.type");
    const cited = { type: "text", media_type: "text/plain", data: "x" };
    assert.equal(
      block({ type: "document", source: cited, citations: { enabled: true } }),
      "messages[0].content[0].citations.enabled",
    );
    const inResult = [{ type: "tool_reference", tool_name: "a" }];
    assert.equal(
      block({ type: "tool_result", tool_use_id: "a", content: inResult }),
      "messages[0].content[0].content[0].type",
    );
  });

  test("refuses what is malformed", () => {
    const block = (content: object) =>
      refusedAs({ messages: [{ role: "user", content: [content] }] }, "invalid_request");
    assert.equal(block({ type: "image", source: { type: "base64" } }), "messages[0].content[0].source.media_type");
    assert.equal(
      block({ type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: 1 }] }),
      "messages[0].content[0].content[0].text",
    );
    assert.equal(refusedAs({ tools: [{ name: "a" }] }, "invalid_request"), "tools[0].input_schema");
    const tools = [{ name: "a", input_schema: {} }];
    const chosen = (choice: object, among = tools) =>
      refusedAs({ tools: among, tool_choice: choice }, "invalid_request");
    assert.equal(chosen({ type: "tool", name: "b" }), "tool_choice.name");
    assert.equal(chosen({ type: "tool" }), "tool_choice.name");
    assert.equal(chosen({ type: "any" }, []), "tool_choice.type");
    const content = [{ type: "thinking", thinking: "", signature: "sounding-broken" }];
    const messages = [{ role: "assistant", content }, user];
    assert.equal(refusedAs({ messages }, "invalid_request"), "messages[0].content[0].signature");
  });

  const text = fc.record({ type: fc.constant("text"), text: fc.string({ minLength: 1 }) });
  const toolUse = fc.record({
    type: fc.constant("tool_use"),
    id: fc.string({ minLength: 1, maxLength: 6 }),
    name: fc.string({ minLength: 1, maxLength: 100 }),
    input: fc.object({ maxDepth: 1 }),
  });
  const toolResult = fc.record({
    type: fc.constant("tool_result"),
    tool_use_id: fc.string({ minLength: 1, maxLength: 6 }),
    content: fc.oneof(fc.string(), fc.array(text, { maxLength: 3 })),
  });
  const message = fc.oneof(
    fc.record({ role: fc.constant("user"), content: fc.array(fc.oneof(text, toolResult), { maxLength: 5 }) }),
    fc.record({ role: fc.constant("assistant"), content: fc.array(fc.oneof(text, toolUse), { maxLength: 5 }) }),
    fc.record({ role: fc.constantFrom("user", "system"), content: fc.string({ minLength: 1 }) }),
  );
  const conversations = fc.array(message, { maxLength: 8 }).map((messages) => [...messages, user]);

  test("changes no order, and loses no text, call or result", () => {
    fc.assert(
      fc.property(conversations, (messages) => {
        const chat = translate({ messages });
        assert.deepEqual(chat.messages.flatMap(spokenInChat), messages.flatMap(spoken));
      }),
      { numRuns: propertyRuns(400) },
    );
  });

  test("is the same for the beginning of a longer conversation, so that prompt caches work", () => {
    fc.assert(
      fc.property(conversations, conversations, (earlier, later) => {
        const short = translate({ messages: earlier }).messages;
        const long = translate({ messages: [...earlier, ...later] }).messages;
        assert.deepEqual(long.slice(0, short.length), short);
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});

interface AnyBlock {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}

const textsOf = (content: unknown): string[] =>
  typeof content === "string" ? [content] : (content as AnyBlock[]).map((block) => block.text!);

/** What a message says, in order; calls after the text of their message. */
function spoken({ content, role }: { role: string; content: unknown }): unknown[] {
  if (typeof content === "string") return [[role, content]];
  const blocks = content as AnyBlock[];
  const calls = blocks.filter(({ type }) => type === "tool_use");
  const others = blocks.filter(({ type }) => type !== "tool_use");
  return [
    ...others.flatMap((block) =>
      block.type === "text"
        ? [[role, block.text]]
        : textsOf(block.content)
            .filter((each) => each !== "")
            .map((each) => ["tool", block.tool_use_id, each]),
    ),
    ...calls.map(({ id, input, name }) => ["call", id, toFunctionName(name!), JSON.parse(JSON.stringify(input))]),
  ];
}

function spokenInChat({
  content,
  role,
  tool_call_id: id,
  tool_calls: calls,
}: ChatRequest["messages"][number]): unknown[] {
  const texts = content == null ? [] : textsOf(content).filter((each) => each !== "");
  return [
    ...texts.map((each) => (role === "tool" ? ["tool", id, each] : [role, each])),
    ...(calls ?? []).map((call) => ["call", call.id, call.function.name, JSON.parse(call.function.arguments)]),
  ];
}

describe("the description of a request", () => {
  test("never fails, and has what can be said", () => {
    const described = describeRequest(
      ask({
        messages: [
          {
            role: "user",
            content: [
              { type: "container_upload", file_id: "f" },
              { type: "text", text: "Hi" },
            ],
          },
          { role: "assistant", content: "Well" },
        ],
        tools: [{ type: "web_search_20250305", name: "web_search" }],
        stop_sequences: ["a", "b", "c", "d", "e"],
        output_config: { format: { type: "other" }, other: 1 },
        max_tokens: 0,
      }),
    );
    assert.equal(described.model, "assistant");
    assert.deepEqual(described.messages[1], { role: "assistant", content: "Well" });
    const [first] = described.messages;
    assert.deepEqual(first?.content, [
      { type: "text", text: "[container_upload]" },
      { type: "text", text: "Hi" },
    ]);
    const broken = ask({ messages: [{ role: "user", content: [{ type: "image", source: { type: "base64" } }] }] });
    assert.deepEqual(describeRequest(broken).messages, []);
  });

  test("names the person and the session of Claude Code", () => {
    const described = (userId: string) => describeRequest(ask({ metadata: { user_id: userId } }));
    const { metadata, user: person } = described(
      JSON.stringify({ device_id: "d-1", account_uuid: "", session_id: "s-1" }),
    ) as JsonObject;
    assert.deepEqual([person, metadata], ["d-1", { session_id: "s-1" }]);
    assert.equal(described("u-1").user, "u-1");
    assert.equal(described("{broken").user, "{broken");
  });
});
