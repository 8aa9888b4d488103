/** The reasoning of a whole answer as thinking blocks, if the client wants any. */
import type { MessageRequest } from "../api/messages-request.ts";
import { isObject, nonEmptyText, type JsonObject } from "../json-object.ts";
import { toHiddenSignature, toOwnBlock, toSignature, type ThinkingBlock } from "./kept-reasoning.ts";

/** Clients that did not ask for thinking expect the text first. */
export function wantsThinking({ thinking }: Pick<MessageRequest, "thinking">): boolean {
  return thinking != null && thinking.type !== "disabled";
}

/** Whether blocks of thinking should have signatures, but no text. */
export function hidesThinking({ thinking }: Pick<MessageRequest, "thinking">): boolean {
  return (thinking as JsonObject | null | undefined)?.["display"] === "omitted";
}

export function toThinkingBlocks(message: JsonObject, request: Pick<MessageRequest, "thinking">): ThinkingBlock[] {
  if (!wantsThinking(request)) return [];
  const text = reasoningText(message) ?? "";
  const details = reasoningDetails(message);
  if (text === "" && details.length === 0) return [];
  if (hidesThinking(request)) return [{ type: "thinking", thinking: "", signature: toHiddenSignature(text, details) }];
  const own = details.map(toOwnBlock);
  if (own.length > 0 && own.every((block) => block !== undefined)) return own;
  return [{ type: "thinking", thinking: text, signature: toSignature(text, details) }];
}

/** Of a message or a delta. */
export function reasoningText(message: JsonObject): string | undefined {
  return nonEmptyText(message["reasoning_content"]) ?? nonEmptyText(message["reasoning"]);
}

/** Of a message or a delta. */
export function reasoningDetails(message: JsonObject): JsonObject[] {
  const details = message["reasoning_details"];
  return Array.isArray(details) ? details.filter(isObject) : [];
}
