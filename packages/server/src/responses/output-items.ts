/** Items that a model generates. */
import { toToolUseId } from "../chat/tool-use-id.ts";
import type { JsonObject } from "../json-object.ts";
import { readCustomInput, type ClientTool } from "./tools.ts";

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
  readonly tool: ClientTool;
  readonly arguments: string;
}

export function callType({ isCustom }: ClientTool): "custom_tool_call" | "function_call" {
  return isCustom ? "custom_tool_call" : "function_call";
}

export function callItem(id: string, call: CalledTool, status: Status): JsonObject {
  const { name, namespace } = call.tool;
  const head = { id, type: callType(call.tool), status, call_id: toToolUseId(call), name };
  const place = namespace === undefined ? {} : { namespace };
  return call.tool.isCustom
    ? { ...head, ...place, input: readCustomInput(call.arguments) }
    : { ...head, ...place, arguments: call.arguments };
}
