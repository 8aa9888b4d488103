/**
 * Messages in the forms that instrumentations write: OpenTelemetry's parts (https://github.com/open-telemetry/semantic-conventions-genai),
 * OpenAI's content, the AI SDK's content, and OpenInference's nested objects.
 */
import { parsedJson, valueText } from "./any-value.ts";

export type MessagePart =
  | { readonly kind: "text" | "reasoning"; readonly text: string }
  | { readonly kind: "tool-call"; readonly id: string; readonly name: string; readonly input: string }
  | { readonly kind: "tool-result"; readonly id: string; readonly name: string; readonly text: string }
  /** An image, a recording or a file, of which the data is not shown. */
  | { readonly kind: "media"; readonly type: string; readonly source: string };

export interface Message {
  /** `system`, `user`, `assistant`, `tool`, or as it was sent. */
  readonly role: string;
  readonly parts: readonly MessagePart[];
  readonly finishReason?: string | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** The messages of a list, of its JSON, or of one message. Empty for anything else. */
export function toMessages(value: unknown, defaultRole: string): Message[] {
  const parsed = parsedJson(value);
  if (typeof parsed === "string") return parsed === "" ? [] : [{ role: defaultRole, parts: [textPart(parsed)] }];
  const list = Array.isArray(parsed) ? parsed : [parsed];
  return list.flatMap((each) => toMessage(each, defaultRole) ?? []);
}

/** Instructions are a list of parts without a role. */
export function toInstructions(value: unknown): Message[] {
  const parsed = parsedJson(value);
  const parts = (Array.isArray(parsed) ? parsed : [parsed]).flatMap(toParts);
  return parts.length === 0 ? [] : [{ role: "system", parts }];
}

const roles: Readonly<Record<string, string>> = { human: "user", ai: "assistant", model: "assistant" };

function toMessage(value: unknown, defaultRole: string): Message | undefined {
  if (typeof value === "string") return { role: defaultRole, parts: [textPart(value)] };
  if (!isObject(value)) return undefined;
  // OpenInference nests the message, OpenAI's choices too.
  const message = isObject(value["message"]) ? value["message"] : value;
  const given = textOf(message["role"] ?? message["type"] ?? value["role"]);
  const role = roles[given] ?? (given === "" || given === "message" ? defaultRole : given);
  const id = textOf(message["tool_call_id"] ?? message["toolCallId"]);
  const body = message["parts"] ?? message["content"] ?? message["contents"] ?? message["text"];
  const content = toParts(parsedContent(body));
  const parts: MessagePart[] =
    role === "tool" && id !== "" && content.every(({ kind }) => kind === "text")
      ? [{ kind: "tool-result", id, name: textOf(message["name"]), text: joined(content) }]
      : [...reasoningOf(message), ...content, ...toolCallsOf(message)];
  const finishReason = textOf(value["finish_reason"] ?? message["finish_reason"]) || undefined;
  return parts.length === 0 && finishReason === undefined ? undefined : { role, parts, finishReason };
}

/** Some instrumentations write lists of parts as JSON. A message that is itself JSON stays a text. */
function parsedContent(content: unknown): unknown {
  const parsed = parsedJson(content);
  const isList = Array.isArray(parsed) && parsed.every((part) => isObject(part) && typeof part["type"] === "string");
  return typeof content === "string" && !isList ? content : parsed;
}

function joined(parts: readonly MessagePart[]): string {
  return parts.map((part) => ("text" in part ? part.text : "")).join("\n");
}

function reasoningOf(message: Json): MessagePart[] {
  const text = textOf(message["reasoning_content"] ?? message["reasoning"]);
  return text === "" ? [] : [{ kind: "reasoning", text }];
}

function toolCallsOf(message: Json): MessagePart[] {
  const calls = parsedJson(message["tool_calls"] ?? message["toolCalls"]);
  if (!Array.isArray(calls)) return [];
  return calls.filter(isObject).map((each) => toolCall(isObject(each["tool_call"]) ? each["tool_call"] : each));
}

export function toolCall(call: Json): MessagePart {
  const called = isObject(call["function"]) ? call["function"] : call;
  const input = called["arguments"] ?? called["input"] ?? called["args"];
  return {
    kind: "tool-call",
    id: textOf(call["id"] ?? call["toolCallId"] ?? call["tool_call_id"]),
    name: textOf(called["name"] ?? call["toolName"]),
    input: valueText(parsedJson(input)),
  };
}

function toParts(value: unknown): MessagePart[] {
  if (value === null || value === undefined || value === "") return [];
  if (Array.isArray(value)) return value.flatMap(toParts);
  if (!isObject(value)) return [textPart(valueText(value))];
  // OpenInference nests the part, with its type inside.
  const part = isObject(value["message_content"]) ? value["message_content"] : value;
  return [toPart(part)];
}

function toPart(part: Json): MessagePart {
  const type = textOf(part["type"]).replaceAll("-", "_");
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
    case "refusal":
      return textPart(valueText(part["content"] ?? part["text"] ?? part["refusal"]));
    case "reasoning":
    case "thinking":
    case "redacted_thinking":
      return {
        kind: "reasoning",
        text: valueText(part["content"] ?? part["text"] ?? part["thinking"] ?? part["summary"]),
      };
    case "tool_call":
    case "tool_use":
    case "function_call":
      return toolCall(part);
    case "tool_call_response":
    case "tool_result":
    case "function_call_output":
      return toolResult(part);
    default:
      return isMedia(type, part) ? media(type, part) : textPart(valueText(part["text"] ?? part["content"] ?? part));
  }
}

function toolResult(part: Json): MessagePart {
  const result = part["response"] ?? part["result"] ?? part["output"] ?? part["content"];
  return {
    kind: "tool-result",
    id: textOf(part["id"] ?? part["toolCallId"] ?? part["tool_use_id"] ?? part["call_id"]),
    name: textOf(part["name"] ?? part["toolName"]),
    text: valueText(parsedJson(unwrapped(result))),
  };
}

/** The AI SDK wraps results: `{ type: "json", value }`. */
function unwrapped(result: unknown): unknown {
  return isObject(result) && "value" in result && typeof result["type"] === "string" ? result["value"] : result;
}

function isMedia(type: string, part: Json): boolean {
  return /image|audio|video|file|blob|uri|media|document/.test(type) || "mime_type" in part;
}

function media(type: string, part: Json): MessagePart {
  const mime = textOf(part["mime_type"] ?? part["mimeType"] ?? part["mediaType"]);
  const kind = textOf(part["modality"]) || mime || type.replace("input_", "").replace("_url", "");
  const nested = isObject(part["image_url"]) ? part["image_url"]["url"] : part["image_url"];
  const source = textOf(part["uri"] ?? part["file_id"] ?? part["filename"] ?? nested ?? part["url"]);
  // Data is not an address that helps anyone.
  return { kind: "media", type: kind, source: /^data:/i.test(source) ? "" : source };
}

function textPart(text: string): MessagePart {
  return { kind: "text", text };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
