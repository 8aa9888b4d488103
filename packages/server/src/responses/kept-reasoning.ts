/**
 * Keeps the reasoning of chat completions in reasoning items, which clients return unchanged in the next turn: its text as
 * the summary, and in `encrypted_content` what the engine needs back.
 */
import { isKept, keepBesideText, readKept, type Reasoning } from "../chat/kept-reasoning.ts";
import { invalid } from "../chat/untranslatable.ts";
import { isObject, type JsonObject } from "../json-object.ts";

export function toReasoningItem(id: string, reasoning: Reasoning): JsonObject {
  const { text } = reasoning;
  return {
    id,
    type: "reasoning",
    status: "completed",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    encrypted_content: keepBesideText(reasoning),
  };
}

/** @returns undefined for what another API encrypted: no engine of chat completions can read it, or needs it */
export function readReasoningItem(item: JsonObject, path: string): Reasoning | undefined {
  const { encrypted_content: content } = item;
  const text = joinTexts(item["summary"]) || joinTexts(item["content"]);
  if (content == null) return { text, details: [] };
  if (!isKept(content)) return undefined;
  const details = readKept(content, text);
  if (details !== undefined) return { text, details };
  throw invalid(`${path}.encrypted_content`, "was changed; send reasoning items back as they came.");
}

/** Whether an upstream that speaks the Responses API would refuse the item. */
export function isForeignReasoning(item: unknown): boolean {
  return isObject(item) && item["type"] === "reasoning" && isKept(item["encrypted_content"]);
}

function joinTexts(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts.map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join("\n\n");
}
