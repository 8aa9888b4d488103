/** What the answers and events of upstreams that speak the Responses API say, for limits and telemetry. */
import type { ChatCompletion, ChatCompletionChunk, ChatDelta, ChatUsage, FinishReason } from "../api/chat-answer.ts";
import { headOf, toChunk, toCompletion } from "../chat/read-wire.ts";
import type { WireEvent } from "../engines/wire.ts";
import { isObject, parseObject, textOf, type JsonObject } from "../json-object.ts";
import { parseResponseEvent } from "./response-event.ts";
import { toChatUsage } from "./response-usage.ts";

export function readAnswer(answer: JsonObject): ChatCompletion {
  const items = Array.isArray(answer["output"]) ? answer["output"].filter(isObject) : [];
  const parts = items.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isObject) : []));
  const joined = (type: string, member: string): string =>
    parts.map((part) => (part["type"] === type ? textOf(part[member]) : "")).join("");
  const calls = items.filter(isCall);
  const refusal = joined("refusal", "refusal");
  return toCompletion(headOf(answer), {
    message: {
      role: "assistant",
      content: joined("output_text", "text"),
      ...(refusal === "" ? {} : { refusal }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(toToolCall) }),
    },
    finish_reason: toFinishReason(answer, calls.length > 0),
    usage: toChatUsage(answer["usage"]),
  });
}

function isCall({ type }: JsonObject): boolean {
  return type === "function_call" || type === "custom_tool_call";
}

function toToolCall(item: JsonObject) {
  const called = { name: textOf(item["name"]), arguments: textOf(item["arguments"] ?? item["input"]) };
  return { id: textOf(item["call_id"]), type: "function" as const, function: called };
}

function toFinishReason({ status, incomplete_details: details }: JsonObject, hasCalls: boolean): FinishReason {
  if (status !== "incomplete") return hasCalls ? "tool_calls" : "stop";
  return isObject(details) && details["reason"] === "content_filter" ? "content_filter" : "length";
}

/** Deltas of text, which are most events: what they add to. */
const deltas: Readonly<Record<string, "content" | "refusal" | "reasoning_content">> = {
  "response.output_text.delta": "content",
  "response.refusal.delta": "refusal",
  "response.reasoning_text.delta": "reasoning_content",
  "response.reasoning_summary_text.delta": "reasoning_content",
};
const callDeltas = new Set(["response.function_call_arguments.delta", "response.custom_tool_call_input.delta"]);
const endings = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** Reads the events of one stream. */
export function createReader(): (event: WireEvent) => ChatCompletionChunk | undefined {
  let head = headOf({});
  /** Index of the tool call in an output. */
  const toolCalls = new Map<unknown, number>();
  const chunk = (delta: ChatDelta, reason: FinishReason | null = null, usage?: ChatUsage): ChatCompletionChunk =>
    toChunk(head, { delta, finish_reason: reason, usage });
  return (wireEvent) => {
    const event = parseResponseEvent(wireEvent)?.event ?? parseObject(wireEvent.data);
    const type = textOf(event?.["type"]);
    if (event === undefined) return undefined;
    const member = deltas[type];
    if (member !== undefined) return chunk({ [member]: textOf(event["delta"]) });
    if (callDeltas.has(type)) {
      const index = toolCalls.get(event["output_index"]);
      if (index === undefined) return undefined;
      return chunk({ tool_calls: [{ index, function: { arguments: textOf(event["delta"]) } }] });
    }
    if (type === "response.created") {
      head = headOf(isObject(event["response"]) ? event["response"] : {});
      return chunk({ role: "assistant" });
    }
    if (type === "response.output_item.added") {
      const item = isObject(event["item"]) ? event["item"] : {};
      if (!isCall(item)) return undefined;
      const index = toolCalls.size;
      toolCalls.set(event["output_index"], index);
      const { id: callId, function: called } = toToolCall(item);
      return chunk({ tool_calls: [{ index, id: callId, type: "function", function: { ...called, arguments: "" } }] });
    }
    if (!endings.has(type) || !isObject(event["response"])) return undefined;
    const { response } = event;
    // It is `auto` until then.
    head = headOf(response);
    return chunk({}, toFinishReason(response, toolCalls.size > 0), toChatUsage(response["usage"]));
  };
}
