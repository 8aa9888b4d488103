/** Builds messages of chat completions from those of other APIs. */
import type { ChatContentPart, ChatMessage } from "../api/chat-request.ts";
import type { TypeOf } from "../api/schema.ts";
import type { JsonObject } from "../json-object.ts";
import { readToolUseId } from "./tool-use-id.ts";

export type ChatPart = TypeOf<typeof ChatContentPart>;

/** What the model generated in one turn. */
export interface ModelTurn {
  readonly parts: ChatPart[];
  readonly calls: NonNullable<ChatMessage["tool_calls"]>;
  reasoning: string;
  /** As `reasoning_details`. */
  readonly details: JsonObject[];
}

export function createTurn(): ModelTurn {
  return { parts: [], calls: [], reasoning: "", details: [] };
}

export function toAssistantMessage({ parts, calls, reasoning, details }: ModelTurn): ChatMessage {
  return {
    role: "assistant",
    content: parts.length > 0 ? toContent(parts) : calls.length > 0 ? null : "",
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** @param id the client's, from `toToolUseId` */
export function toToolCall(id: string, called: { name: string; arguments: string }): ModelTurn["calls"][number] {
  const { id: callId, extra } = readToolUseId(id);
  return {
    id: callId,
    type: "function",
    function: called,
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

/** The result of a tool. @param id the call's, as the client has it */
export function toToolMessage(id: string, parts: readonly ChatPart[]): ChatMessage {
  return {
    role: "tool",
    tool_call_id: readToolUseId(id).id,
    content: parts.length === 0 ? "" : toContent(parts),
  };
}

/** @param shown gets the images and files, which a tool's message cannot contain, each after its number in the text */
export function separateAttachments(parts: readonly ChatPart[], shown: ChatPart[]): ChatPart[] {
  return parts.map((part) => {
    if (part.type === "text") return part;
    const label: ChatPart = { type: "text", text: `[attachment ${shown.length / 2 + 1}]` };
    shown.push(label, part);
    return label;
  });
}

/** One text is sent as text, which every engine takes. */
export function toContent(parts: readonly ChatPart[]): string | ChatPart[] {
  const [first] = parts;
  return parts.length === 1 && first?.type === "text" && "text" in first ? first.text : [...parts];
}
