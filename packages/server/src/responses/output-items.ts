/** Items that a model generates. */
import { toToolUseId } from "../chat/tool-use-id.ts";
import type { JsonObject } from "../json-object.ts";
import { readCustomInput } from "./tools.ts";

type Status = "in_progress" | "completed" | "incomplete";

const prefixes = { message: "msg", reasoning: "rs", function_call: "fc", custom_tool_call: "ctc" } as const;

/** Unique, since that of the response is. */
export function itemId(type: keyof typeof prefixes, responseId: string, index: number): string {
  return `${prefixes[type]}_${responseId.replace(/^resp_/, "")}_${index}`;
}

export function textPart(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function refusalPart(refusal: string): JsonObject {
  return { type: "refusal", refusal };
}

export function messageItem(id: string, content: readonly JsonObject[], status: Status): JsonObject {
  return { id, type: "message", status, role: "assistant", content };
}

export interface CalledTool {
  /** The tool call's. */
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** @param isCustom whether the tool takes free text */
export function callItem(
  id: string,
  call: CalledTool,
  { isCustom, status }: { readonly isCustom: boolean; readonly status: Status },
): JsonObject {
  const { name } = call;
  const callId = toToolUseId(call);
  return isCustom
    ? { id, type: "custom_tool_call", status, call_id: callId, name, input: readCustomInput(call.arguments) }
    : { id, type: "function_call", status, call_id: callId, name, arguments: call.arguments };
}
