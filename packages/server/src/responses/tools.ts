/**
 * Tools as chat completions have them. A custom tool, which takes free text, is a function there with this text as its only
 * argument.
 */
import type { ChatRequest } from "../api/chat-request.ts";
import type { ResponseRequest, ResponseTool } from "../api/responses-request.ts";
import { invalid, type Refuse } from "../chat/untranslatable.ts";
import { isObject, nonEmptyText } from "../json-object.ts";

type ChatTool = NonNullable<ChatRequest["tools"]>[number];
type ChatToolChoice = NonNullable<ChatRequest["tool_choice"]>;

export function toChatTools({ tools, tool_choice: choice }: ResponseRequest, refuse: Refuse): ChatTool[] {
  const allowed = allowedNames(choice);
  return (tools ?? []).flatMap((tool, index) => {
    const translated = toChatTool(tool, `tools[${index}]`, refuse);
    if (translated === undefined) return [];
    return allowed === undefined || allowed.has(translated.function.name) ? [translated] : [];
  });
}

function toChatTool(tool: ResponseTool, path: string, refuse: Refuse): ChatTool | undefined {
  const { type, name, description, parameters, strict } = tool;
  if (type !== "function" && type !== "custom") {
    refuse(`${path}.type`, `is ${JSON.stringify(type)}, a tool of the vendor`);
    return undefined;
  }
  if (name === undefined) throw invalid(`${path}.name`, "is missing.");
  if (type === "custom") {
    return { type: "function", function: { name, description: describeInput(tool), parameters: inputParameters } };
  }
  return {
    type: "function",
    function: {
      name,
      ...(description == null ? {} : { description }),
      ...(parameters == null ? {} : { parameters }),
      ...(strict == null ? {} : { strict }),
    },
  };
}

const inputParameters = {
  type: "object",
  properties: { input: { type: "string", description: "The input of the tool, as free text." } },
  required: ["input"],
  additionalProperties: false,
};

/** The grammar that the input must follow is told to the model; nothing enforces it. */
function describeInput({ description, format }: ResponseTool & { readonly format?: unknown }): string {
  const own = description ?? "";
  if (!isObject(format) || format["type"] !== "grammar") return own;
  const syntax = String(format["syntax"]);
  return `${own}\n\nThe input must match this grammar (${syntax}):\n${String(format["definition"])}`.trim();
}

export function toChatToolChoice({ tool_choice: choice }: ResponseRequest, refuse: Refuse): ChatToolChoice | undefined {
  if (choice == null || typeof choice === "string") return choice ?? undefined;
  const { type, name, mode } = choice as { readonly type: string; readonly name?: unknown; readonly mode?: unknown };
  if (type === "function" || type === "custom") {
    const called = nonEmptyText(name);
    if (called === undefined) throw invalid("tool_choice.name", "is missing.");
    return { type: "function", function: { name: called } };
  }
  if (type === "allowed_tools") return mode === "required" ? "required" : "auto";
  refuse("tool_choice.type", `is ${JSON.stringify(type)}, a tool of the vendor`);
  return undefined;
}

function allowedNames(choice: ResponseRequest["tool_choice"]): ReadonlySet<string> | undefined {
  if (!isObject(choice) || choice["type"] !== "allowed_tools") return undefined;
  const { tools } = choice as { readonly tools?: unknown };
  if (!Array.isArray(tools)) throw invalid("tool_choice.tools", "is missing.");
  return new Set(tools.filter(isObject).map(({ name }) => String(name)));
}

/** Names of the request's custom tools. */
export function customTools({ tools }: Pick<ResponseRequest, "tools">): ReadonlySet<string> {
  return new Set((tools ?? []).filter(({ type }) => type === "custom").map(({ name }) => name ?? ""));
}

/** The text that a model gave to a custom tool; its arguments if they are not what was asked for. */
export function readCustomInput(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && typeof value["input"] === "string") return value["input"];
  } catch {
    // The model wrote the input itself.
  }
  return text;
}

export function writeCustomInput(input: string): string {
  return JSON.stringify({ input });
}
