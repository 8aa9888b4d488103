/** `POST /v1/responses` for a model whose upstream speaks only chat completions. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, test } from "node:test";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import { ResponseEvent, ResponseObject } from "../../packages/server/src/api/responses-answer.ts";
import { satisfies } from "../../packages/server/src/api/validate.ts";
import { piecesOf, streamed } from "../../packages/server/test/support/streamed.ts";
import { beforeTests } from "../support/hooks.ts";
import {
  chatChunk,
  chatChunks,
  chatCompletion,
  chatSpellings,
  readEvents,
  toChatWire,
} from "../support/messages-server.ts";
import { startResponsesServer, type ResponsesServer } from "../support/responses-server.ts";

const tools = [{ type: "function", name: "read", parameters: { type: "object" }, strict: false }];
const request = { model: "assistant", tools, input: "Hello" };

async function eventsOf(response: Response): Promise<JsonObject[]> {
  const events = await readEvents(response);
  return events.map(({ name, data }) => {
    const event = JSON.parse(data) as JsonObject;
    assert.equal(name, event["type"]);
    assert.ok(satisfies(ResponseEvent, event));
    return event;
  });
}

const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens: 25,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 125,
};

describe("the Responses API at an upstream of chat completions", () => {
  let setting: ResponsesServer;
  beforeTests(async (stack) => {
    setting = stack.use(await startResponsesServer());
  });

  test("translates the request, and the completion to a response", async () => {
    setting.chat.script = (exchange) =>
      exchange.answer(
        chatCompletion(
          {
            content: "Reading.",
            tool_calls: [{ id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"x"}' } }],
          },
          "tool_calls",
        ),
      );
    const response = await setting.post({ ...request, instructions: "Be brief.", max_output_tokens: 100 });
    assert.equal(response.status, 200);
    const answer = (await response.json()) as JsonObject;
    assert.ok(satisfies(ResponseObject, { ...answer }));
    const { id, output, status, model } = answer;
    assert.match(String(id), /^resp_[0-9a-f]{32}$/);
    assert.deepEqual([status, model, answer["usage"], answer["store"]], ["completed", "assistant", usage, true]);
    const suffix = String(id).slice("resp_".length);
    assert.deepEqual(output, [
      {
        id: `msg_${suffix}_0`,
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Reading.", annotations: [], logprobs: [] }],
      },
      {
        id: `fc_${suffix}_1`,
        type: "function_call",
        status: "completed",
        call_id: "call_1",
        name: "read",
        arguments: '{"path":"x"}',
      },
    ]);
    assert.deepEqual(setting.chat.exchanges.at(-1)!.json, {
      model: "chat-upstream",
      max_completion_tokens: 100,
      tools: [{ type: "function", function: { name: "read", parameters: { type: "object" }, strict: false } }],
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
    });
  });

  for (const [name, text] of chatSpellings) {
    for (const size of [1, 5, 100_000]) {
      test(`translates a stream ${name}, in pieces of up to ${size} bytes`, async () => {
        setting.chat.script = streamed(...piecesOf(text, size));
        const events = await eventsOf(await setting.post({ ...request, stream: true }));
        assert.deepEqual(
          events.map((event) => event["sequence_number"]),
          events.map((_, index) => index),
        );
        assert.deepEqual(
          events.map((event) => String(event["type"]).replace("response.", "")),
          [
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
          ],
        );
        const { response } = events.at(-1) as { response: JsonObject };
        assert.deepEqual([response["status"], response["model"], response["usage"]], ["completed", "assistant", usage]);
        const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
        assert.deepEqual(response["output"], done);
        const [reasoning, message, call] = done as JsonObject[];
        assert.deepEqual(reasoning!["summary"], [{ type: "summary_text", text: "Hm – 好." }]);
        assert.deepEqual(
          [message!["content"], call!["arguments"]],
          [[{ type: "output_text", text: "Grüße 👋", annotations: [], logprobs: [] }], '{"path":"x"}'],
        );
      });
    }
  }

  test("returns reasoning, calls and results to the engine in their order", async () => {
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Done." }));
    const input = [
      { role: "developer", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "input_text", text: "Look" },
          { type: "input_image", image_url: "data:image/png;base64,AA==" },
        ],
      },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm." }] },
      { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "of OpenAI" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Two.", annotations: [] }] },
      { type: "function_call", call_id: "b", name: "read", arguments: "{}" },
      { type: "custom_tool_call", call_id: "a", name: "apply_patch", input: "*** Begin" },
      { type: "function_call_output", call_id: "b", output: "one" },
      { type: "custom_tool_call_output", call_id: "a", output: [{ type: "input_text", text: "two" }] },
      { type: "message", role: "user", content: "And?" },
    ];
    const custom = {
      type: "custom",
      name: "apply_patch",
      description: "Edits.",
      format: { type: "grammar", syntax: "lark", definition: "start: X" },
    };
    const response = await setting.post({
      ...request,
      tools: [...tools, custom],
      input,
      tool_choice: "auto",
      parallel_tool_calls: false,
    });
    assert.equal(response.status, 200, await response.clone().text());
    const sent = setting.chat.exchanges.at(-1)!.json as JsonObject;
    assert.deepEqual(sent["messages"], [
      { role: "developer", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
        ],
      },
      {
        role: "assistant",
        content: "Two.",
        reasoning_content: "Hm.",
        tool_calls: [
          { id: "b", type: "function", function: { name: "read", arguments: "{}" } },
          { id: "a", type: "function", function: { name: "apply_patch", arguments: '{"input":"*** Begin"}' } },
        ],
      },
      { role: "tool", tool_call_id: "b", content: "one" },
      { role: "tool", tool_call_id: "a", content: "two" },
      { role: "user", content: "And?" },
    ]);
    assert.deepEqual([sent["tool_choice"], sent["parallel_tool_calls"]], ["auto", false]);
    const [, patch] = sent["tools"] as { function: { description: string } }[];
    assert.match(patch!.function.description, /^Edits\.\n\nThe input must match this grammar \(lark\):\nstart: X$/);
  });

  test("keeps the order of tools, and of what is in their schemas: prompt caches depend on it", async () => {
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Done." }));
    const properties = { zone: { type: "string" }, area: { enum: ["b", "a"], type: "string" } };
    const parameters = { type: "object", required: ["zone", "area"], properties };
    const functions = ["zip", "cut", "add"].map((name) => ({ type: "function", name, parameters }));
    assert.equal((await setting.post({ ...request, tools: functions })).status, 200);
    const expected = functions.map(({ name }) => ({ type: "function", function: { name, parameters } }));
    const { body } = setting.chat.exchanges.at(-1)!;
    assert.ok(body.includes(`"tools":${JSON.stringify(expected)}`), body.toString());
  });

  test("gives the input of a custom tool as text", async () => {
    const custom = { type: "custom", name: "apply_patch" };
    const call = { id: "call_1", type: "function", function: { name: "apply_patch", arguments: '{"inp' } };
    setting.chat.script = streamed(
      toChatWire([
        chatChunk({ role: "assistant", tool_calls: [{ index: 0, ...call }] }),
        chatChunk({ tool_calls: [{ index: 0, function: { arguments: 'ut":"*** Begin\\nEnd"}' } }] }),
        chatChunk({}, "tool_calls"),
        "[DONE]",
      ]),
    );
    const events = await eventsOf(await setting.post({ ...request, tools: [custom], stream: true }));
    const done = events.find(({ type }) => type === "response.custom_tool_call_input.done");
    assert.equal(done!["input"], "*** Begin\nEnd");
    const { response } = events.at(-1) as { response: { output: JsonObject[] } };
    const [item] = response.output;
    assert.deepEqual(
      [item!["type"], item!["input"], item!["call_id"]],
      ["custom_tool_call", "*** Begin\nEnd", "call_1"],
    );
  });

  test("says why a response is incomplete", async () => {
    for (const [reason, expected] of [
      ["length", "max_output_tokens"],
      ["content_filter", "content_filter"],
    ] as const) {
      setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "To be" }, reason));
      const { status, incomplete_details: details } = (await (await setting.post(request)).json()) as JsonObject;
      assert.deepEqual([status, details], ["incomplete", { reason: expected }]);
    }
  });

  test("tells a failure in the middle of a stream as response.failed, with the response", async () => {
    setting.chat.script = async (exchange) => {
      exchange.beginEvents();
      await exchange.drip([toChatWire(chatChunks.slice(0, 3))]);
      exchange.cut();
    };
    const events = await eventsOf(await setting.post({ ...request, stream: true }));
    const last = events.at(-1)!;
    assert.deepEqual([last["type"], last["sequence_number"]], ["response.failed", events.length - 1]);
    const { id, status, error } = last["response"] as JsonObject;
    const { response: begun } = events[0] as { response: JsonObject };
    assert.equal(id, begun["id"]);
    assert.deepEqual([status, (error as JsonObject)["code"]], ["failed", "server_error"]);
  });

  for (const [param, more] of [
    ["tools[0].type", { tools: [{ type: "web_search" }] }],
    ["conversation", { conversation: "conv_1" }],
    ["truncation", { truncation: "auto" }],
    ["include[0]", { include: ["message.output_text.logprobs"] }],
    ["top_logprobs", { top_logprobs: 2 }],
    ["prompt", { prompt: { id: "pmpt_1" } }],
    ["input[0].type", { input: [{ type: "computer_call", call_id: "a" }] }],
    [
      "input[0].content[0].file_id",
      { input: [{ role: "user", content: [{ type: "input_file", file_id: "file_1" }] }] },
    ],
  ] as const) {
    test(`refuses ${param} by name`, async () => {
      const response = await setting.post({ ...request, ...more });
      const { error } = (await response.json()) as { error: JsonObject };
      assert.deepEqual([response.status, error["param"], error["code"]], [400, param, "unsupported_parameter"]);
    });
  }

  for (const [param, more] of [
    ["tool_choice", { tools: [], tool_choice: "required" }],
    ["tool_choice.name", { tool_choice: { type: "function", name: "write" } }],
    ["tool_choice.name", { tools: [], tool_choice: { type: "custom", name: "read" } }],
    [
      "tool_choice.tools[1].name",
      {
        tool_choice: {
          type: "allowed_tools",
          mode: "auto",
          tools: [
            { type: "function", name: "read" },
            { type: "function", name: "write" },
          ],
        },
      },
    ],
    ["input", { input: [] }],
    ["input[0].role", { input: [{ role: "tool", content: "x" }] }],
  ] as const) {
    test(`refuses ${param} in ${JSON.stringify(more)}`, async () => {
      const response = await setting.post({ ...request, ...more });
      const { error } = (await response.json()) as { error: JsonObject };
      assert.deepEqual([response.status, error["param"], error["code"]], [400, param, null]);
    });
  }

  test("sends only the tools that are allowed, and no choice among none", async () => {
    setting.chat.script = (exchange) => exchange.answer(chatCompletion({ content: "Done." }));
    const write = { type: "function", name: "write", parameters: { type: "object" } };
    const allowed = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "write" }] };
    assert.equal((await setting.post({ ...request, tools: [...tools, write], tool_choice: allowed })).status, 200);
    const sent = setting.chat.exchanges.at(-1)!.json as JsonObject;
    const names = (sent["tools"] as { function: { name: string } }[]).map((tool) => tool.function.name);
    assert.deepEqual([names, sent["tool_choice"]], [["write"], "required"]);
    assert.equal((await setting.post({ ...request, tools: [], tool_choice: "auto" })).status, 200);
    assert.equal("tool_choice" in (setting.chat.exchanges.at(-1)!.json as JsonObject), false);
  });

  test("refuses WebSockets and reading of nothing", async () => {
    const { server } = setting;
    const headers = { authorization: `Bearer ${server.key}` };
    const read = await fetch(`${server.url}/v1/responses`, { headers });
    assert.deepEqual([read.status, /does not serve/.test(await read.text())], [405, false]);
    const upgrade = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": Buffer.alloc(16).toString("base64"),
    };
    const socket = httpRequest(`${server.url}/v1/responses`, { headers: { ...headers, ...upgrade } }).end();
    const [refused] = (await once(socket, "response")) as [IncomingMessage];
    assert.equal(refused.statusCode, 405);
    assert.match(
      Buffer.concat(await Array.fromAsync(refused as AsyncIterable<Buffer>)).toString(),
      /not take WebSockets/,
    );
  });
});
