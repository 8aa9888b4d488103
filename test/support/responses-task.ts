/** Upstreams that let a client read a file with a tool and then answer, in both APIs of OpenAI. */
import type { Script } from "../../packages/server/test/support/scripted-upstream.ts";
import { chatChunk, chatCompletion, chatUsage, toChatWire } from "./messages-server.ts";
import { openAiResponse, toResponsesWire } from "./responses-server.ts";

export const fileAnswer = "It says 42.";
/** Where the client wants JSON. */
export const jsonAnswer = { path: "x", answer: 42 };

interface Asked {
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly messages?: readonly { readonly role: string }[];
  readonly input?: unknown;
  readonly response_format?: object;
  readonly text?: { readonly format?: { readonly type: string } };
}

function answerTo({ response_format: chatFormat, text }: Asked): string {
  const isJson = chatFormat !== undefined || (text?.format?.type ?? "text") !== "text";
  return isJson ? JSON.stringify(jsonAnswer) : fileAnswer;
}

/** Calls the tool `read` where there is one and it has not been called, and answers elsewhere. */
export const chatTask: Script = (exchange) => {
  const { stream, tools = [], messages = [] } = exchange.json as Asked;
  const answer = answerTo(exchange.json as Asked);
  const called = { name: "read", arguments: '{"path":"x"}' };
  const calls = tools.length > 0 && messages.at(-1)?.role !== "tool";
  if (stream !== true) {
    const message = calls
      ? { tool_calls: [{ id: "call_1", type: "function", function: called }] }
      : { content: answer };
    return exchange.answer(chatCompletion(message, calls ? "tool_calls" : "stop"));
  }
  exchange.beginEvents();
  const delta = calls
    ? { tool_calls: [{ index: 0, id: "call_1", type: "function", function: called }] }
    : { content: answer };
  return end(exchange, [
    chatChunk({ role: "assistant" }),
    chatChunk({ reasoning_content: "Hm." }),
    chatChunk(delta),
    chatChunk({}, calls ? "tool_calls" : "stop"),
    { ...chatChunk({}), choices: [], usage: chatUsage },
    "[DONE]",
  ]);
};

async function end(exchange: Parameters<Script>[0], chunks: readonly (object | string)[]): Promise<void> {
  await exchange.send(toChatWire(chunks));
  exchange.end();
}

/** The same of an upstream that speaks the Responses API. */
export function responsesTask(): Script {
  let count = 0;
  return async (exchange) => {
    const { stream, tools = [], input } = exchange.json as Asked;
    const answer = answerTo(exchange.json as Asked);
    const calls = tools.length > 0 && !JSON.stringify(input).includes("function_call_output");
    const id = `resp_upstream_${++count}`;
    const item = calls
      ? {
          id: `fc_${count}`,
          type: "function_call",
          status: "completed",
          call_id: "call_1",
          name: "read",
          arguments: '{"path":"x"}',
        }
      : {
          id: `msg_${count}`,
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: answer, annotations: [], logprobs: [] }],
        };
    const response = openAiResponse({ id, output: [item] });
    if (stream !== true) return exchange.answer(response);
    const begun = { ...response, status: "in_progress", output: [], usage: null };
    const place = { item_id: item.id, output_index: 0 };
    const pieces = calls
      ? [
          { type: "response.function_call_arguments.delta", ...place, delta: '{"path":"x"}' },
          { type: "response.function_call_arguments.done", ...place, name: "read", arguments: '{"path":"x"}' },
        ]
      : [
          {
            type: "response.content_part.added",
            ...place,
            content_index: 0,
            part: { type: "output_text", text: "", annotations: [], logprobs: [] },
          },
          { type: "response.output_text.delta", ...place, content_index: 0, delta: answer, logprobs: [] },
          { type: "response.output_text.done", ...place, content_index: 0, text: answer, logprobs: [] },
          {
            type: "response.content_part.done",
            ...place,
            content_index: 0,
            part: { type: "output_text", text: answer, annotations: [], logprobs: [] },
          },
        ];
    const started = calls
      ? { ...item, status: "in_progress", arguments: "" }
      : { ...item, status: "in_progress", content: [] };
    const events = [
      { type: "response.created", response: begun },
      { type: "response.in_progress", response: begun },
      { type: "response.output_item.added", output_index: 0, item: started },
      ...pieces,
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response },
    ];
    exchange.beginEvents();
    await exchange.send(toResponsesWire(events.map((event, sequence_number) => ({ ...event, sequence_number }))));
    exchange.end();
  };
}
