/**
 * Reasoning of chat completions in clients of other APIs: what the engine needs back with it becomes a text that clients
 * return unchanged in the next turn.
 */
import { isObject, nonEmptyText, type JsonObject } from "../json-object.ts";

/** Begins what is no vendor's own. */
const keptPrefix = "sounding-";

export interface Reasoning {
  readonly text: string;
  readonly details: readonly JsonObject[];
}

/** Of a message or a delta. */
export function reasoningOf(message: JsonObject): Reasoning {
  const details = message["reasoning_details"];
  return {
    text: nonEmptyText(message["reasoning_content"]) ?? nonEmptyText(message["reasoning"]) ?? "",
    details: Array.isArray(details) ? details.filter(isObject) : [],
  };
}

export function isNone({ text, details }: Reasoning): boolean {
  return text === "" && details.length === 0;
}

export function keep(details: readonly JsonObject[]): string {
  return keptPrefix + Buffer.from(JSON.stringify(details)).toString("base64url");
}

/** The details without the text, for clients that have it beside them. */
export function keepBesideText({ text, details }: Reasoning): string {
  return keep(details.map((detail) => (detail["text"] === text ? { ...detail, text: null } : detail)));
}

export function isKept(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(keptPrefix);
}

/** @param text what the client has beside them @returns the details; undefined if they were changed */
export function readKept(kept: string, text: string): JsonObject[] | undefined {
  try {
    const details: unknown = JSON.parse(Buffer.from(kept.slice(keptPrefix.length), "base64url").toString());
    if (!Array.isArray(details) || !details.every(isObject)) return undefined;
    return details.map((detail) => (detail["text"] === null ? { ...detail, text } : detail));
  } catch {
    return undefined;
  }
}
