/** What the answers and events of upstreams that speak the Messages API say, for limits and telemetry. */
import type { ChatCompletion, ChatCompletionChunk, ChatDelta, ChatUsage } from "../api/chat-answer.ts";
import { headOf, toChunk, toCompletion } from "../chat/read-wire.ts";
import type { WireEvent } from "../engines/wire.ts";
import { isObject, parseObject, textOf, wholeNumber, type JsonObject } from "../json-object.ts";
import { toChatUsage } from "./message-usage.ts";
import { toFinishReason } from "./stop-reason.ts";

export function readAnswer(answer: JsonObject): ChatCompletion {
  const blocks = (Array.isArray(answer["content"]) ? answer["content"] : []).filter(isObject);
  const joined = (type: string, member: string): string =>
    blocks.map((block) => (block["type"] === type ? textOf(block[member]) : "")).join("");
  const calls = blocks.filter(({ type }) => type === "tool_use");
  const reasoning = joined("thinking", "thinking");
  return toCompletion(headOfMessage(answer), {
    message: {
      role: "assistant",
      content: joined("text", "text"),
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map(toToolCall) }),
    },
    finish_reason: toFinishReason(answer["stop_reason"]),
    usage: toChatUsage(answer["usage"]),
  });
}

/** The service tier is part of the usage. */
function headOfMessage(message: JsonObject): ReturnType<typeof headOf> {
  const { usage } = message;
  return headOf({ ...message, service_tier: isObject(usage) ? usage["service_tier"] : undefined });
}

function toToolCall({ id, input, name }: JsonObject) {
  const called = { name: textOf(name), arguments: JSON.stringify(input ?? {}) };
  return { id: textOf(id), type: "function" as const, function: called };
}

/** The events that say something, told by their name: most others are pings and ends of blocks. */
const readEvents = new Set(["message_start", "content_block_start", "content_block_delta", "message_delta"]);

/** Reads the events of one stream. */
export function createReader(): (event: WireEvent) => ChatCompletionChunk | undefined {
  let head = headOf({});
  let usage: JsonObject = {};
  /** Index of the tool call in a block. */
  const toolCalls = new Map<unknown, number>();
  const chunk = (delta: ChatDelta, ending: { reason?: unknown; usage?: ChatUsage | undefined } = {}) =>
    toChunk(head, { delta, finish_reason: toFinishReason(ending.reason), usage: ending.usage });
  const addUsage = (counts: unknown): ChatUsage | undefined => {
    // Those of message_delta are of the whole message; it may leave out what message_start has.
    if (isObject(counts)) usage = { ...usage, ...withoutNull(counts) };
    return toChatUsage(usage);
  };
  return ({ name, data }) => {
    if (name !== undefined && !readEvents.has(name)) return undefined;
    const event = parseObject(data);
    if (event === undefined) return undefined;
    switch (event["type"]) {
      case "message_start": {
        const message = isObject(event["message"]) ? event["message"] : {};
        head = headOfMessage(message);
        return chunk({ role: "assistant" }, { usage: addUsage(message["usage"]) });
      }
      case "content_block_start": {
        const block = isObject(event["content_block"]) ? event["content_block"] : {};
        if (block["type"] !== "tool_use") return undefined;
        const index = toolCalls.size;
        toolCalls.set(event["index"], index);
        const called = { name: textOf(block["name"]), arguments: "" };
        return chunk({ tool_calls: [{ index, id: textOf(block["id"]), type: "function", function: called }] });
      }
      case "content_block_delta": {
        const delta = toDelta(isObject(event["delta"]) ? event["delta"] : {}, toolCalls.get(event["index"]));
        return delta === undefined ? undefined : chunk(delta);
      }
      case "message_delta": {
        const delta = isObject(event["delta"]) ? event["delta"] : {};
        return chunk({}, { reason: delta["stop_reason"], usage: addUsage(event["usage"]) });
      }
      default:
        return undefined;
    }
  };
}

function toDelta(delta: JsonObject, toolCall: number | undefined): ChatDelta | undefined {
  switch (delta["type"]) {
    case "text_delta":
      return { content: textOf(delta["text"]) };
    case "thinking_delta":
      return { reasoning_content: textOf(delta["thinking"]) };
    case "input_json_delta":
      if (toolCall === undefined) return undefined;
      return { tool_calls: [{ index: toolCall, function: { arguments: textOf(delta["partial_json"]) } }] };
    default:
      return undefined;
  }
}

function withoutNull(counts: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(counts).filter(([, value]) => isObject(value) || wholeNumber(value) !== undefined),
  );
}
