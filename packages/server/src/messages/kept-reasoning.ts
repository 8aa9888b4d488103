/**
 * Keeps the reasoning of chat completions in thinking blocks, which clients return unchanged in the next turn. Anthropic's
 * own blocks are what they were. Others carry in their signature what the engine needs back.
 */
import { isObject, type JsonObject } from "../json-object.ts";
import type { ModelTurn } from "../chat/chat-messages.ts";
import { isKept, keep, readKept, type Reasoning } from "../chat/kept-reasoning.ts";
import { invalid } from "../chat/untranslatable.ts";

/** As `reasoning_details` name Anthropic's reasoning. */
const anthropic = "anthropic";

export type ThinkingBlock =
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string };

/** The block for one of Anthropic's own details; undefined for others. */
export function toOwnBlock(detail: JsonObject): ThinkingBlock | undefined {
  const { type, format, text, signature, data } = detail;
  if (format !== anthropic) return undefined;
  if (type === "reasoning.text" && typeof signature === "string")
    return { type: "thinking", thinking: typeof text === "string" ? text : "", signature };
  if (type === "reasoning.encrypted" && typeof data === "string") return { type: "redacted_thinking", data };
  return undefined;
}

/** The signature of a block that the client wants without its text. */
export function toHiddenSignature({ text, details }: Reasoning): string {
  return keep(details.length > 0 ? details : [{ [hiddenText]: text }]);
}

/** The member of a detail that is the text alone. */
const hiddenText = "reasoning_content";

/** Adds what a block says. @param path the block's, for errors */
export function addThinking(block: ThinkingBlock, turn: ModelTurn, path: string): void {
  const { details } = turn;
  if (block.type === "redacted_thinking") {
    details.push({ type: "reasoning.encrypted", data: block.data, format: anthropic });
    return;
  }
  const { thinking: text, signature } = block;
  if (!isKept(signature)) {
    details.push({ type: "reasoning.text", text, signature, format: anthropic });
    return;
  }
  const kept = readKept(signature, text);
  if (kept === undefined) {
    throw invalid(`${path}.signature`, "was changed; send thinking blocks back as they came.");
  }
  if (kept.length === 0) turn.reasoning += text;
  for (const detail of kept) {
    const hidden = detail[hiddenText];
    if (typeof hidden === "string") turn.reasoning += hidden;
    else details.push(detail);
  }
}

/** Whether an upstream of Anthropic would refuse the block, since its signature is none of Anthropic's. */
export function isForeign(block: unknown): boolean {
  return isObject(block) && block["type"] === "thinking" && isKept(block["signature"]);
}
