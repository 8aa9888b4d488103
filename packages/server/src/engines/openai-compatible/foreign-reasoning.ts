/**
 * Leaves out reasoning that a vendor of another API signed: nobody else can read it, and strict engines refuse members that
 * they do not know. Details of other origins pass, since OpenRouter and others need theirs back.
 */
import type { ChatRequest } from "../../api/chat-request.ts";
import { isObject, type JsonObject } from "../../json-object.ts";

/** As our own adapters name it. */
const foreignFormats = new Set<unknown>(["anthropic", "amazon_bedrock"]);

/** @returns undefined if there is none */
export function withoutForeignReasoning(messages: ChatRequest["messages"]): ChatRequest["messages"] | undefined {
  if (!messages.some(hasForeignReasoning)) return undefined;
  return messages.map((message) => {
    if (!hasForeignReasoning(message)) return message;
    const { reasoning_details: details, ...rest } = message as typeof message & { reasoning_details: unknown[] };
    const own = details.filter((detail) => !isForeign(detail));
    return own.length === 0 ? rest : { ...rest, reasoning_details: own };
  });
}

function hasForeignReasoning(message: JsonObject): boolean {
  const details = message["reasoning_details"];
  return Array.isArray(details) && details.some(isForeign);
}

function isForeign(detail: unknown): boolean {
  return isObject(detail) && foreignFormats.has(detail["format"]);
}
