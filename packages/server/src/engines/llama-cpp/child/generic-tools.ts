/**
 * Tools for models whose chat template has none: the tools are described in the instructions, calls and results are text. The
 * form of calls is that of Hermes, which many models have seen. docs/adr/0011-llama-cpp.md
 */
import type { GenerationTool, TemplateMessage } from "../protocol.ts";
import type { ToolFormat } from "./tool-format.ts";

const open = '<tool_call>\n{"name": "';
const middle = '", "arguments": ';
const close = "}\n</tool_call>";

export const genericToolFormat: ToolFormat = { opening: open, middle, closing: close, between: `${close}\n${open}` };

export interface GenericForm {
  /** Descriptions as JSON. */
  readonly tools: readonly unknown[];
  /** Whether the template has system messages; otherwise the instructions are in the first message of the user. */
  readonly hasSystem: boolean;
}

/** Whether a call uses tools, now or earlier in its conversation. */
export function usesTools(messages: readonly TemplateMessage[], tools: readonly GenerationTool[]): boolean {
  return tools.length > 0 || messages.some(({ role, tool_calls: calls }) => role === "tool" || calls !== undefined);
}

/** The messages with tools as text, of roles that take turns where they did. */
export function withGenericTools(
  messages: readonly TemplateMessage[],
  { tools, hasSystem }: GenericForm,
): TemplateMessage[] {
  const plain: TemplateMessage[] = [];
  for (const message of messages.map(asText)) {
    const last = plain.at(-1);
    // Several results are one turn of the user, together with what the user says then.
    if (last?.role === "user" && message.role === "user") plain[plain.length - 1] = joined(last, message);
    else plain.push(message);
  }
  if (tools.length === 0) return plain;
  const instructions: TemplateMessage = { role: hasSystem ? "system" : "user", content: instructionsFor(tools) };
  const at = plain.findIndex(({ role }) => role === instructions.role);
  if (at === -1) return [instructions, ...plain];
  return plain.with(at, hasSystem ? joined(plain[at]!, instructions) : joined(instructions, plain[at]!));
}

function joined(first: TemplateMessage, { content }: TemplateMessage): TemplateMessage {
  return { ...first, content: [first.content, content].filter((text) => text !== "").join("\n\n") };
}

function asText({ role, content, tool_calls: calls = [] }: TemplateMessage): TemplateMessage {
  if (role === "tool") return { role: "user", content: `<tool_response>\n${content}\n</tool_response>` };
  const texts = calls.map(({ function: { name, arguments: given } }) => `${open}${name}${middle}${given}${close}`);
  return { role, content: [content, ...texts].filter((text) => text !== "").join("\n") };
}

function instructionsFor(tools: readonly unknown[]): string {
  return [
    "You can call functions. These are their descriptions:",
    "<tools>",
    ...tools.map((tool) => JSON.stringify(tool)),
    "</tools>",
    "To call a function, answer with its name and arguments in this form, and write nothing else:",
    `${open}NAME${middle}{}${close}`,
    "Its result follows in <tool_response>. If no function helps, answer in words.",
  ].join("\n");
}
