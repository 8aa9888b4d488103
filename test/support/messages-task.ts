/** An upstream that speaks Anthropic's API, and lets a client read a file with a tool and then answer. */
import type { Script } from "../../packages/server/test/support/scripted-upstream.ts";
import { anthropicMessage, startUsage, toWire } from "./messages-server.ts";
import { fileAnswer } from "./responses-task.ts";

interface Asked {
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly messages: unknown;
}

export const messagesTask: Script = async (exchange) => {
  const { messages, stream, tools = [] } = exchange.json as Asked;
  const calls = tools.length > 0 && !JSON.stringify(messages).includes("tool_result");
  const content = calls
    ? { type: "tool_use", id: "toolu_1", name: "read", input: { path: "x" } }
    : { type: "text", text: fileAnswer };
  const reason = calls ? "tool_use" : "end_turn";
  if (stream !== true) return exchange.answer(anthropicMessage([content], { stop_reason: reason }));
  const begun = calls ? { ...content, input: {} } : { type: "text", text: "" };
  const delta = calls
    ? { type: "input_json_delta", partial_json: '{"path":"x"}' }
    : { type: "text_delta", text: fileAnswer };
  exchange.beginEvents();
  await exchange.send(
    toWire([
      { type: "message_start", message: { ...anthropicMessage([]), stop_reason: null, usage: startUsage } },
      { type: "content_block_start", index: 0, content_block: begun },
      { type: "ping" },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 25 } },
      { type: "message_stop" },
    ]),
  );
  exchange.end();
};
