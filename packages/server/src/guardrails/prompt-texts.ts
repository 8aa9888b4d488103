/**
 * The texts of a request that guardrails judge: what is said in messages, the arguments of calls in them, and the answer
 * that the caller predicts. https://platform.openai.com/docs/guides/predicted-outputs
 */
import type { ChatMessage, ChatRequest } from "../api/chat-request.ts";
import { isObject } from "../models/openai-compatible/json-object.ts";
import type { MapTexts } from "./check-texts.ts";
import { mapJsonTexts } from "./json-texts.ts";

type Members = Readonly<Record<string, unknown>>;
type MapText = (text: string) => string;

/**
 * Maps the texts of a request; its other members stay as they are.
 * @param roles whose messages; undefined: everybody's. A predicted answer is the assistant's.
 */
export function mapPromptTexts(roles: readonly string[] | undefined): MapTexts<ChatRequest> {
  const isJudged = (role: string): boolean => roles === undefined || roles.includes(role);
  return (request, map) => {
    const messages = request.messages.map((message) => (isJudged(message.role) ? mapMessage(message, map) : message));
    const { prediction } = request as { readonly prediction?: unknown };
    if (!isJudged("assistant") || !isObject(prediction)) return { ...request, messages };
    return { ...request, messages, prediction: { ...prediction, content: mapContent(prediction["content"], map) } };
  };
}

/** Members of a message that name things, and so say nothing. */
const names: ReadonlySet<string> = new Set(["role", "tool_call_id"]);

/** Every member that is text, known or not: engines tell reasoning, refusals and more in members of their own. */
function mapMessage(message: ChatMessage, map: MapText): ChatMessage {
  const members = Object.entries(message).map(([name, value]): [string, unknown] => [
    name,
    names.has(name) ? value : mapMember(name, value, map),
  ]);
  return Object.fromEntries(members) as ChatMessage;
}

function mapMember(name: string, value: unknown, map: MapText): unknown {
  switch (name) {
    case "function_call":
      return mapArguments(value, map);
    case "tool_calls":
      return Array.isArray(value) ? value.map((call: Members) => mapToolCall(call, map)) : value;
    case "content":
    case "reasoning_details":
      return mapContent(value, map);
    default:
      return typeof value === "string" ? map(value) : value;
  }
}

function mapToolCall(call: Members, map: MapText): Members {
  return { ...call, function: mapArguments(call["function"], map) };
}

function mapArguments(called: unknown, map: MapText): unknown {
  if (!isObject(called) || typeof called["arguments"] !== "string") return called;
  return { ...called, arguments: mapJsonTexts(called["arguments"], map) };
}

/** A text, or parts of which some are texts; what images, sound and files say is not known here. */
function mapContent(content: unknown, map: MapText): unknown {
  if (typeof content === "string") return map(content);
  return Array.isArray(content) ? content.map((part: unknown) => mapPart(part, map)) : content;
}

/** What parts of messages, of reasoning (`reasoning_details`) and of thoughts call their text. */
const texts: ReadonlySet<string> = new Set(["text", "refusal", "thinking", "summary"]);

function mapPart(part: unknown, map: MapText): unknown {
  if (!isObject(part)) return part;
  const members = Object.entries(part).map(([name, value]) => [name, texts.has(name) ? mapContent(value, map) : value]);
  return Object.fromEntries(members) as Members;
}
