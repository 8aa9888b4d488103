/**
 * Messages as chat completions have them. The results of tools, which are blocks of a user message here, are messages of
 * their own there; the order never changes.
 */
import type { ChatMessage } from "../api/chat-request.ts";
import type { MessageParam, MessageRequest } from "../api/messages-request.ts";
import {
  createTurn,
  separateAttachments,
  toAssistantMessage,
  toContent,
  toToolCall,
  toToolMessage,
  type ChatPart,
} from "../chat/chat-messages.ts";
import type { JsonObject } from "../json-object.ts";
import { withCacheHint } from "./cache-hints.ts";
import { nestedParts, textIn, toChatParts, type PlacedBlock } from "./content-blocks.ts";
import { addThinking, type ThinkingBlock } from "./kept-reasoning.ts";
import { toFunctionName } from "../chat/tool-names.ts";
import type { Refuse } from "../chat/untranslatable.ts";

export function toChatMessages({ messages, system }: Pick<MessageRequest, "messages" | "system">, refuse: Refuse) {
  const all: ChatMessage[] = [];
  if (system != null && system.length > 0) {
    const content = contentOf({ content: system, path: "system" }, refuse);
    all.push(withCacheHint({ role: "system", content }, system));
  }
  for (const [index, message] of messages.entries()) all.push(...translate(message, `messages[${index}]`, refuse));
  return all;
}

function translate({ role, content }: MessageParam, path: string, refuse: Refuse): ChatMessage[] {
  const at = `${path}.content`;
  if (role === "system") return [withCacheHint({ role, content: contentOf({ content, path: at }, refuse) }, content)];
  if (typeof content === "string") return [{ role, content }];
  const blocks = content.map((block, index) => ({ block: block as JsonObject, path: `${at}[${index}]` }));
  return role === "user" ? userMessages(blocks, refuse) : [withCacheHint(assistantMessage(blocks, refuse), content)];
}

function contentOf(placed: { readonly content: unknown; readonly path: string }, refuse: Refuse) {
  return toContent(nestedParts(placed, refuse));
}

/** Runs of tool results, each followed by a message with what the results show, and with the blocks after them. */
function userMessages(blocks: readonly PlacedBlock[], refuse: Refuse): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let parts: ChatPart[] = [];
  let shown: ChatPart[] = [];
  let sources: JsonObject[] = [];
  const flush = (): void => {
    const content = [...shown, ...parts];
    if (content.length > 0) messages.push(withCacheHint({ role: "user", content: toContent(content) }, sources));
    parts = [];
    shown = [];
    sources = [];
  };
  for (const placed of blocks) {
    if (placed.block["type"] !== "tool_result") {
      parts.push(...toChatParts(placed, refuse));
      sources.push(placed.block);
      continue;
    }
    if (parts.length > 0) flush();
    messages.push(withCacheHint(toolMessage(placed, shown, refuse), placed.block));
  }
  flush();
  return messages.length === 0 ? [{ role: "user", content: "" }] : messages;
}

/** @param shown gets what the result shows besides text */
function toolMessage({ block, path }: PlacedBlock, shown: ChatPart[], refuse: Refuse): ChatMessage {
  const content = nestedParts({ content: block["content"], path: `${path}.content` }, refuse);
  const parts = separateAttachments(content, shown);
  if (block["is_error"] === true) markAsError(parts);
  return toToolMessage(textIn(block, "tool_use_id", path), parts);
}

/** Chat completions have no other way to say it. */
function markAsError(parts: ChatPart[]): void {
  const [first] = parts;
  const text = first?.type === "text" && "text" in first ? ` ${first.text}` : "";
  parts.splice(0, text === "" ? 0 : 1, { type: "text", text: `Error:${text}` });
}

function assistantMessage(blocks: readonly PlacedBlock[], refuse: Refuse): ChatMessage {
  const turn = createTurn();
  for (const { block, path } of blocks) {
    switch (block["type"]) {
      case "tool_use": {
        const id = textIn(block, "id", path);
        const name = toFunctionName(textIn(block, "name", path));
        turn.calls.push(toToolCall(id, { name, arguments: JSON.stringify(block["input"] ?? {}) }));
        break;
      }
      case "thinking":
      case "redacted_thinking":
        addThinking(block as ThinkingBlock, turn, path);
        break;
      default:
        turn.parts.push(...toChatParts({ block, path }, refuse));
    }
  }
  return toAssistantMessage(turn);
}
