/** Prompts and answers as spans record them. https://github.com/open-telemetry/semantic-conventions-genai */

interface TextPart {
  readonly type: "text";
  readonly content: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, string>>;
}

type Part =
  | TextPart
  | ({ readonly type: "tool_call" } & ToolCall)
  | { readonly type: "tool_call_response"; readonly id: string; readonly response: string };

export interface Message {
  readonly role: "user" | "assistant" | "tool";
  readonly parts: readonly Part[];
}

function textPart(content: string): TextPart {
  return { type: "text", content };
}

export function fromUser(content: string): Message {
  return { role: "user", parts: [textPart(content)] };
}

export function fromAssistant(content: string): Message {
  return { role: "assistant", parts: [textPart(content)] };
}

export function callingTool(call: ToolCall): Message {
  return { role: "assistant", parts: [{ type: "tool_call", ...call }] };
}

export function fromTool({ id }: ToolCall, response: string): Message {
  return { role: "tool", parts: [{ type: "tool_call_response", id, response }] };
}

export function inputAttributes(messages: readonly Message[], instructions?: string) {
  return {
    "gen_ai.system_instructions": instructions === undefined ? undefined : JSON.stringify([textPart(instructions)]),
    "gen_ai.input.messages": JSON.stringify(messages),
  };
}

/** @param reason why the model stopped */
export function outputAttributes(message: Message, reason: string) {
  return { "gen_ai.output.messages": JSON.stringify([{ ...message, finish_reason: reason }]) };
}

export function textOf({ parts }: Message): string {
  return parts.map((part) => (part.type === "text" ? part.content : "")).join("");
}
