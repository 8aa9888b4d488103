/**
 * Keeps in a tool call's ID what an engine needs back with the call, such as Gemini's signature of its thoughts: clients return
 * the ID unchanged, and nothing else. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
import { isObject, parseObject, type JsonObject } from "../json-object.ts";

const separator = "__sounding_";

/** The ID of a call, or of the first piece of one. */
export function toToolUseId(call: { readonly id: string }): string {
  const { extra_content: extra } = call as JsonObject & { id: string };
  if (!isObject(extra)) return call.id;
  return call.id + separator + Buffer.from(JSON.stringify(extra)).toString("base64url");
}

/** The engine's ID, and what the call needs. */
export function readToolUseId(id: string): { readonly id: string; readonly extra: JsonObject | undefined } {
  const at = id.indexOf(separator);
  if (at === -1) return { id, extra: undefined };
  const extra = parseObject(Buffer.from(id.slice(at + separator.length), "base64url").toString());
  return extra === undefined ? { id, extra } : { id: id.slice(0, at), extra };
}
