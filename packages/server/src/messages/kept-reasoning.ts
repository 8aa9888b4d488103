/**
 * Keeps the reasoning of chat completions in thinking blocks, which clients return unchanged in the next turn. Anthropic's
 * own blocks are what they were. Others carry in their signature what the engine needs back.
 */
import { isObject, type JsonObject } from "../json-object.ts";
import { invalid } from "../chat/untranslatable.ts";

/** Begins the signatures that are not Anthropic's. */
export const signaturePrefix = "sounding-";
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

/** The signature of a block with this text. @param details what the engine needs back, if it needs more than the text */
export function toSignature(text: string, details: readonly JsonObject[]): string {
  // The block has the text already.
  return encode(details.map((detail) => (detail["text"] === text ? { ...detail, text: null } : detail)));
}

/** The signature of a block that the client wants without its text. */
export function toHiddenSignature(text: string, details: readonly JsonObject[]): string {
  return encode(details.length > 0 ? details : [{ [hiddenText]: text }]);
}

/** The member of a detail that is the text alone. */
const hiddenText = "reasoning_content";

function encode(kept: readonly JsonObject[]): string {
  return signaturePrefix + Buffer.from(JSON.stringify(kept)).toString("base64url");
}

/** Reasoning of an assistant message, as chat completions have it. */
export interface ChatReasoning {
  content: string;
  readonly details: JsonObject[];
}

/** Adds what a block says. @param path the block's, for errors */
export function addThinking(block: ThinkingBlock, reasoning: ChatReasoning, path: string): void {
  const { details } = reasoning;
  if (block.type === "redacted_thinking") {
    details.push({ type: "reasoning.encrypted", data: block.data, format: anthropic });
    return;
  }
  const { thinking: text, signature } = block;
  if (!signature.startsWith(signaturePrefix)) {
    details.push({ type: "reasoning.text", text, signature, format: anthropic });
    return;
  }
  const kept = readSignature(signature, `${path}.signature`);
  if (kept.length === 0) reasoning.content += text;
  for (const detail of kept) {
    const hidden = detail[hiddenText];
    if (typeof hidden === "string") reasoning.content += hidden;
    else details.push(detail["text"] === null ? { ...detail, text } : detail);
  }
}

function readSignature(signature: string, path: string): JsonObject[] {
  try {
    const kept: unknown = JSON.parse(Buffer.from(signature.slice(signaturePrefix.length), "base64url").toString());
    if (Array.isArray(kept) && kept.every(isObject)) return kept;
  } catch {
    // The error below says so.
  }
  throw invalid(path, "was changed; send thinking blocks back as they came.");
}

/** Whether an upstream of Anthropic would refuse the block, since its signature is none of Anthropic's. */
export function isForeign(block: unknown): boolean {
  return isObject(block) && block["type"] === "thinking" && String(block["signature"]).startsWith(signaturePrefix);
}
