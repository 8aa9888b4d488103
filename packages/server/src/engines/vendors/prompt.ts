/** Converts chat messages from OpenAI's form to the AI SDK's prompt. */
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
} from "@ai-sdk/provider";
import type { ChatMessage, ChatRequest } from "../../api/chat-request.ts";
import { AppError } from "../../errors.ts";
import { cacheOptions, refuseUnknownMembers, toPart, type PartContext } from "./content-part.ts";
import { unsupported } from "./parameter-support.ts";
import { readReasoning, readToolCallExtra } from "./reasoning.ts";
import { isObject, parseObject, type JsonObject } from "../../json-object.ts";
import type { Vendor } from "./vendor.ts";

type ToolCall = NonNullable<ChatMessage["tool_calls"]>[number];

interface Conversation {
  readonly vendor: Vendor;
  /** Names of the functions that were called, by the call's ID. */
  readonly functionNames: Map<string, string>;
  /** Whether a message that is not a system message has been seen. */
  begun: boolean;
}

/** What a message of an earlier answer carries that no vendor needs back. */
const answerMembers = ["annotations", "audio", "function_call", "reasoning_content", "reasoning_details", "refusal"];
const knownMembers: Readonly<Record<string, readonly string[]>> = {
  developer: ["role", "content"],
  system: ["role", "content"],
  user: ["role", "content"],
  assistant: ["role", "content", "tool_calls", ...answerMembers],
  tool: ["role", "content", "tool_call_id", "name"],
};

function toParts(message: ChatMessage, context: PartContext) {
  const { content } = message;
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [{ type: "text" as const, text: content }];
  return content.map((part, index) => toPart(part, { ...context, path: `${context.path}.content[${index}]` }));
}

/** Text alone, for the roles whose content is nothing else. */
function toText(message: ChatMessage, context: PartContext): LanguageModelV4TextPart[] {
  return toParts(message, context).map((part, index) => {
    if (part.type === "text") return part;
    const path = `${context.path}.content[${index}]`;
    throw unsupported(context.label, path, `a message with role ${message.role} may contain only text.`);
  });
}

function parseArguments(call: ToolCall, path: string): JsonObject {
  const text = call.function.arguments;
  if (text.trim() === "") return {};
  const value = parseObject(text);
  if (value !== undefined) return value;
  const param = `${path}.function.arguments`;
  throw new AppError("invalid_request", `${param} must be a JSON object encoded as text.`, { param });
}

function toToolCall(call: ToolCall, conversation: Conversation, path: string): LanguageModelV4ToolCallPart {
  const { vendor } = conversation;
  const context = { label: vendor.label, support: vendor.content, path };
  refuseUnknownMembers(call, ["id", "type", "index", "function", "extra_content"], context);
  refuseUnknownMembers(call.function, ["name", "arguments"], { ...context, path: `${path}.function` });
  conversation.functionNames.set(call.id, call.function.name);
  return {
    type: "tool-call",
    toolCallId: call.id,
    toolName: call.function.name,
    input: parseArguments(call, path),
    ...readToolCallExtra(call),
  };
}

function toAssistant(message: ChatMessage, conversation: Conversation, context: PartContext): LanguageModelV4Message {
  const extra = message as JsonObject;
  if (isObject(extra["function_call"])) {
    throw unsupported(context.label, `${context.path}.function_call`, "use tool_calls.");
  }
  if (isObject(extra["audio"]))
    throw unsupported(context.label, `${context.path}.audio`, "responses with audio are not available.");
  const refusal = extra["refusal"];
  const text = toText(message, context).filter((part) => part.text !== "");
  if (typeof refusal === "string" && refusal !== "") text.push({ type: "text", text: refusal });
  const calls = (message.tool_calls ?? []).map((call, index) =>
    toToolCall(call, conversation, `${context.path}.tool_calls[${index}]`),
  );
  return {
    role: "assistant",
    content: [...readReasoning(extra, conversation.vendor.reasoningFormat), ...text, ...calls],
    ...cacheOptions(extra),
  };
}

function toToolResult(message: ChatMessage, conversation: Conversation, context: PartContext): LanguageModelV4Message {
  const id = message.tool_call_id;
  const toolName = id === undefined ? undefined : conversation.functionNames.get(id);
  if (id === undefined || toolName === undefined) {
    const param = `${context.path}.tool_call_id`;
    const seen = id === undefined ? "is missing" : `is "${id}", which does not appear in an earlier assistant message`;
    throw new AppError("invalid_request", `${param} ${seen}.`, { param });
  }
  const value = toText(message, context)
    .map((part) => part.text)
    .join("");
  return {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: id, toolName, output: { type: "text", value } }],
    ...cacheOptions(message),
  };
}

function toSystem(message: ChatMessage, conversation: Conversation, context: PartContext): LanguageModelV4Message {
  if (conversation.begun && !context.support.laterSystemMessages) {
    throw unsupported(context.label, `${context.path}.role`, "system messages must come before all other messages.");
  }
  const content = toText(message, context)
    .map((part) => part.text)
    .join("");
  return { role: "system", content, ...cacheOptions(message) };
}

function toMessage(message: ChatMessage, conversation: Conversation, path: string): LanguageModelV4Message {
  const { label, content: support } = conversation.vendor;
  const context: PartContext = { label, support, path };
  const known = knownMembers[message.role];
  if (known === undefined) throw unsupported(label, `${path}.role`, `use the role tool instead of ${message.role}.`);
  refuseUnknownMembers(message, known, context);
  if (message.role === "system" || message.role === "developer") return toSystem(message, conversation, context);
  conversation.begun = true;
  if (message.role === "assistant") return toAssistant(message, conversation, context);
  if (message.role === "tool") return toToolResult(message, conversation, context);
  const content = toParts(message, context) as (LanguageModelV4TextPart | LanguageModelV4FilePart)[];
  return { role: "user", content, ...cacheOptions(message) };
}

/** The AI SDK's prompt of a chat; throws for content that the vendor does not support. */
export function toPrompt(request: ChatRequest, vendor: Vendor): LanguageModelV4Prompt {
  const conversation: Conversation = { vendor, functionNames: new Map(), begun: false };
  const prompt: LanguageModelV4Prompt = [];
  for (const [index, message] of request.messages.entries()) {
    const next = toMessage(message, conversation, `messages[${index}]`);
    const last = prompt.at(-1);
    // The results of parallel calls are one turn; Google refuses them in several.
    if (last?.role === "tool" && next.role === "tool") {
      prompt[prompt.length - 1] = { ...last, ...next, content: [...last.content, ...next.content] };
    } else prompt.push(next);
  }
  return prompt;
}
