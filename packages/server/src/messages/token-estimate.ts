/** Estimates the tokens of a prompt, where nobody can count them. */
import type { TokenCountRequest } from "../api/messages-request.ts";
import { estimateTokens } from "../estimate-tokens.ts";
import { isObject } from "../json-object.ts";

/** Role and separators of a message, a block or a tool. */
const tokensPerPart = 4;
/** What Anthropic counts for an image of a common size, and for a page of a document, at most. */
const tokensPerFile = 1_600;
/** Members whose text is not read as text by the model. */
const silent = new Set(["type", "cache_control", "signature", "media_type"]);

export function estimateInputTokens({
  messages,
  system,
  tools,
}: Pick<TokenCountRequest, "messages" | "system" | "tools">): number {
  const count = { characters: 0, parts: 0, files: 0 };
  // A list instead of recursion, because tool schemas may be deeply nested.
  const rest: unknown[] = [messages, system, tools];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === "string") count.characters += value.length;
    else if (typeof value === "number" || typeof value === "boolean") count.characters += 1;
    else if (Array.isArray(value)) for (const item of value) rest.push(item);
    else if (isObject(value)) {
      const { type } = value;
      if (type === "base64" || type === "url" || type === "file") {
        count.files += 1;
        continue;
      }
      if (typeof type === "string" || typeof value["role"] === "string") count.parts += 1;
      for (const name in value) {
        if (silent.has(name)) continue;
        count.characters += name.length;
        rest.push(value[name]);
      }
    }
  }
  const { characters, files, parts } = count;
  return estimateTokens(characters) + parts * tokensPerPart + files * tokensPerFile;
}
