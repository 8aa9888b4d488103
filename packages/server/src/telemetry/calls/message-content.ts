/**
 * Converts prompts and answers to the JSON of the attributes `gen_ai.input.messages`, `gen_ai.output.messages` and
 * `gen_ai.system_instructions`. https://github.com/open-telemetry/semantic-conventions-genai
 */
import type { ChatRequest } from "../../api/chat-request.ts";
import type { AnsweredChoice, AnsweredToolCall, RecordedAnswer } from "../../finished-call.ts";
import type { Attributes } from "./call-record-types.ts";
import { genAi } from "./attribute-names.ts";

type Message = ChatRequest["messages"][number];

type Part = Readonly<Record<string, unknown>>;

/** Longer texts are omitted, because truncated JSON is invalid. */
const longestText = 262_144;
/** Of a message, a part or a call as JSON: `{"type":""}`. */
const shortestItem = 11;

export function contentAttributes(messages: readonly Message[], answer: RecordedAnswer | undefined): Attributes {
  const instructions = messages.filter(isInstruction);
  const others = messages.filter((message) => !isInstruction(message));
  return {
    [genAi.systemInstructions]: partsText(instructions, (message) => contentParts(message)),
    [genAi.inputMessages]: partsText(others, (message) => [{ role: message.role, parts: messageParts(message) }]),
    [genAi.outputMessages]: toText(
      (answer?.choices ?? []).map((choice, index) => outputMessage(choice, answer, index)),
    ),
  };
}

function isInstruction({ role }: Message): boolean {
  return role === "system" || role === "developer";
}

/** Reads no more messages than can be kept: this runs without yielding, and a prompt can have millions of parts. */
function partsText(messages: readonly Message[], partsOf: (message: Message) => Part[]): string | undefined {
  let room = longestText;
  for (const message of messages) {
    room -= leastLength(message);
    if (room < 0) return undefined;
  }
  return toText(messages.flatMap(partsOf));
}

/** The minimum JSON length of a message. */
function leastLength({ content, tool_calls: calls }: Message): number {
  let length = shortestItem;
  if (typeof content === "string") length += content.length;
  else {
    for (const part of content ?? []) {
      length += shortestItem + (part.type === "text" && "text" in part ? part.text.length : 0);
      if (length > longestText) return length;
    }
  }
  for (const call of calls ?? []) {
    // Parsed arguments can be shorter, but parsing such a long text takes too long.
    length += shortestItem + call.function.arguments.length;
    if (length > longestText) return length;
  }
  return length;
}

/** The text to speak, as an input message. */
export function spokenText(input: string | undefined): string | undefined {
  return toText(input === undefined ? [] : [{ role: "user", parts: [textPart(input)] }]);
}

/** The transcribed text, as an output message. */
export function transcribedText(text: string | undefined): string | undefined {
  return toText(text === undefined ? [] : [{ role: "assistant", parts: [textPart(text)], finish_reason: "stop" }]);
}

function toText(items: readonly unknown[]): string | undefined {
  if (items.length === 0) return undefined;
  const text = JSON.stringify(items);
  return text.length > longestText ? undefined : text;
}

function outputMessage({ text, toolCalls }: AnsweredChoice, answer: RecordedAnswer | undefined, index: number): Part {
  return {
    role: "assistant",
    parts: [...(text === "" ? [] : [textPart(text)]), ...toolCalls.map(toolCallPart)],
    finish_reason: answer?.finishReasons[index] ?? "error",
  };
}

function messageParts(message: Message): Part[] {
  if (message.role === "tool") {
    return [{ type: "tool_call_response", id: message.tool_call_id, response: message.content }];
  }
  const calls = (message.tool_calls ?? []).map(({ id, function: called }) => toolCallPart({ id, ...called }));
  return [...contentParts(message), ...calls];
}

function contentParts({ content }: Message): Part[] {
  if (typeof content === "string") return [textPart(content)];
  return (content ?? []).map((part) =>
    // Images and audio are mentioned, but their data is not kept.
    part.type === "text" && "text" in part ? textPart(part.text) : { type: part.type },
  );
}

function textPart(content: string): Part {
  return { type: "text", content };
}

function toolCallPart(call: AnsweredToolCall): Part {
  return { type: "tool_call", id: call.id, name: call.name, arguments: parsed(call.arguments) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
