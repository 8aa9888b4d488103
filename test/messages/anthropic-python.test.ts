/** Anthropic's official SDK for Python, unchanged, against the whole server with both kinds of upstreams. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import type { Script } from "../../packages/server/test/support/scripted-upstream.ts";
import { beforeTests } from "../support/hooks.ts";
import {
  anthropicEvents,
  anthropicMessage,
  chatChunks,
  chatCompletion,
  startMessagesServer,
  toChatWire,
  toWire,
} from "../support/messages-server.ts";
import { needs, python } from "../support/needs.ts";

/** One process runs all cases: importing the SDK takes a second. */
const program = `
import json, sys, anthropic
url, key = sys.argv[1:]
client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)
question = [{"role": "user", "content": "Hello"}]
tool = {"name": "read", "input_schema": {"type": "object"}}
outcomes = {}

for model in ["claude", "assistant"]:
    message = client.messages.create(model=model, max_tokens=100, messages=question)
    outcomes[f"{model} creates"] = [
        message.content[0].text, message.model, message.stop_reason,
        message.usage.cache_read_input_tokens, message.usage.output_tokens,
    ]

    with client.messages.stream(
        model=model, max_tokens=2000, messages=question, tools=[tool], thinking={"type": "adaptive"}
    ) as stream:
        text = "".join(stream.text_stream)
        message = stream.get_final_message()
    outcomes[f"{model} streams"] = [
        text, [block.type for block in message.content], message.content[0].thinking, message.content[-1].input,
        message.stop_reason, message.usage.cache_read_input_tokens, message.usage.output_tokens,
    ]

    messages = [*question]
    for _ in range(5):
        message = client.messages.create(model=model, max_tokens=100, messages=messages, tools=[tool])
        if message.stop_reason != "tool_use":
            break
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "42"}
            for block in message.content if block.type == "tool_use"
        ]
        messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
    outcomes[f"{model} loops"] = [message.content[0].text, len(messages)]

    counted = client.messages.count_tokens(model=model, messages=question)
    outcomes[f"{model} counts"] = counted.input_tokens > 0

    try:
        client.messages.create(model=model, max_tokens=100, messages=[])
    except anthropic.BadRequestError as error:
        outcomes[f"{model} refuses"] = error.body["error"]["type"]

outcomes["models"] = sorted(model.id for model in client.models.list(limit=1) if "upstream" not in model.id)
print(json.dumps(outcomes))
`;

const stream =
  (text: string): Script =>
  async (exchange) => {
    exchange.beginEvents();
    await exchange.send(text);
    exchange.end();
  };

interface Asked {
  readonly stream?: boolean;
  readonly tools?: unknown;
  readonly messages: { readonly role: string; readonly content: unknown }[];
}

const anthropic: Script = (exchange) => {
  const asked = exchange.json as Asked;
  if (exchange.path.endsWith("count_tokens")) return exchange.answer({ input_tokens: 42 });
  if (asked.stream === true) return stream(toWire(anthropicEvents))(exchange);
  const call = { type: "tool_use", id: "toolu_1", name: "read", input: { path: "x" } };
  return asked.tools === undefined || asked.messages.length > 1
    ? exchange.answer(anthropicMessage([{ type: "text", text: "It says 42." }]))
    : exchange.answer(anthropicMessage([call], { stop_reason: "tool_use" }));
};

const chat: Script = (exchange) => {
  const asked = exchange.json as Asked;
  if (asked.stream === true) return stream(toChatWire(chatChunks))(exchange);
  const call = { id: "call_1", type: "function", function: { name: "read", arguments: '{"path":"x"}' } };
  return asked.tools === undefined || asked.messages.length > 1
    ? exchange.answer(chatCompletion({ content: "It says 42." }))
    : exchange.answer(chatCompletion({ tool_calls: [call] }, "tool_calls"));
};

describe("Anthropic's SDK for Python", { skip: needs("python") }, () => {
  let outcomes: Record<string, unknown>;
  beforeTests(async (stack) => {
    const { server } = stack.use(await startMessagesServer({ anthropic, chat }));
    const { stdout } = await promisify(execFile)(python, ["-c", program, server.url, server.key]);
    outcomes = JSON.parse(stdout) as Record<string, unknown>;
  });

  for (const model of ["claude", "assistant"]) {
    test(`creates messages, streams, loops over tools, counts and raises its errors with ${model}`, () => {
      assert.deepEqual(outcomes[`${model} creates`], ["It says 42.", model, "end_turn", 60, 25]);
      assert.deepEqual(outcomes[`${model} streams`], [
        "Grüße 👋",
        ["thinking", "text", "tool_use"],
        "Hm – 好.",
        { path: "x" },
        "tool_use",
        60,
        25,
      ]);
      assert.deepEqual(outcomes[`${model} loops`], ["It says 42.", 3]);
      assert.equal(outcomes[`${model} counts`], true);
      assert.equal(outcomes[`${model} refuses`], "invalid_request_error");
    });
  }

  test("lists the models page by page", () => {
    const models = outcomes["models"] as string[];
    for (const model of ["assistant", "claude"]) assert.ok(models.includes(model), models.join(" "));
  });
});
