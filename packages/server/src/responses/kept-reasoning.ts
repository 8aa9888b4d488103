/**
 * Keeps the reasoning of chat completions in reasoning items, which clients return unchanged in the next turn: its text as
 * the summary, and in `encrypted_content` what the engine needs back.
 */
import { invalid } from "../chat/untranslatable.ts";
import { isObject, nonEmptyText, type JsonObject } from "../json-object.ts";

/** Begins what is not OpenAI's. */
export const contentPrefix = "sounding-";

export interface Reasoning {
  readonly text: string;
  readonly details: readonly JsonObject[];
}

/** Of a message or a delta of a chat completion. */
export function reasoningOf(message: JsonObject): Reasoning {
  const details = message["reasoning_details"];
  return {
    text: nonEmptyText(message["reasoning_content"]) ?? nonEmptyText(message["reasoning"]) ?? "",
    details: Array.isArray(details) ? details.filter(isObject) : [],
  };
}

export function toReasoningItem(id: string, { text, details }: Reasoning): JsonObject {
  // The summary has the text already.
  const kept = details.map((detail) => (detail["text"] === text ? { ...detail, text: null } : detail));
  return {
    id,
    type: "reasoning",
    status: "completed",
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    encrypted_content: contentPrefix + Buffer.from(JSON.stringify(kept)).toString("base64url"),
  };
}

/** @returns undefined for what another API encrypted: no engine of chat completions can read it, or needs it */
export function readReasoningItem(item: JsonObject, path: string): Reasoning | undefined {
  const { encrypted_content: content } = item;
  const text = joinTexts(item["summary"]) || joinTexts(item["content"]);
  if (content == null) return { text, details: [] };
  if (!isOwn(content)) return undefined;
  try {
    const kept: unknown = JSON.parse(Buffer.from(content.slice(contentPrefix.length), "base64url").toString());
    if (Array.isArray(kept) && kept.every(isObject)) {
      return { text, details: kept.map((detail) => (detail["text"] === null ? { ...detail, text } : detail)) };
    }
  } catch {
    // The error below says so.
  }
  throw invalid(`${path}.encrypted_content`, "was changed; send reasoning items back as they came.");
}

function isOwn(content: unknown): content is string {
  return typeof content === "string" && content.startsWith(contentPrefix);
}

/** Whether an upstream that speaks the Responses API would refuse the item. */
export function isForeignReasoning(item: unknown): boolean {
  return isObject(item) && item["type"] === "reasoning" && isOwn(item["encrypted_content"]);
}

function joinTexts(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts.map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join("\n\n");
}
