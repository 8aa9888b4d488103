/** The reasoning of a whole answer as thinking blocks, if the client wants any. */
import type { MessageRequest } from "../api/messages-request.ts";
import { isNone, keepBesideText, reasoningOf } from "../chat/kept-reasoning.ts";
import type { JsonObject } from "../json-object.ts";
import { toHiddenSignature, toOwnBlock, type ThinkingBlock } from "./kept-reasoning.ts";

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
  const reasoning = reasoningOf(message);
  if (isNone(reasoning)) return [];
  if (hidesThinking(request)) return [{ type: "thinking", thinking: "", signature: toHiddenSignature(reasoning) }];
  const own = reasoning.details.map(toOwnBlock);
  if (own.length > 0 && own.every((block) => block !== undefined)) return own;
  return [{ type: "thinking", thinking: reasoning.text, signature: keepBesideText(reasoning) }];
}
