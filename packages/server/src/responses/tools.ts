/**
 * Tools as chat completions have them. A custom tool, which takes free text, is a function there with this text as its only
 * argument.
 */
import type { ChatRequest } from "../api/chat-request.ts";
import type { ResponseRequest, ResponseTool } from "../api/responses-request.ts";
import { toFunctionName } from "../chat/tool-names.ts";
import { invalid, leaveOut, type Refuse } from "../chat/untranslatable.ts";
import { isObject, nonEmptyText, parseObject, type JsonObject } from "../json-object.ts";

type ChatTool = NonNullable<ChatRequest["tools"]>[number];
type ChatToolChoice = NonNullable<ChatRequest["tool_choice"]>;

export function toChatTools({ tools, tool_choice: choice }: ResponseRequest, refuse: Refuse): ChatTool[] {
  const placed = placedTools(tools, refuse);
  const allowed = allowedNames(choice, placed);
  return placed.flatMap((each) => {
    const translated = toChatTool(each);
    return allowed === undefined || allowed.has(each.tool.name ?? "") ? [translated] : [];
  });
}

interface PlacedTool {
  readonly tool: ResponseTool;
  readonly namespace: string | undefined;
  readonly path: string;
}

/** The functions and custom tools, also those in namespaces. */
function placedTools(tools: ResponseRequest["tools"], refuse: Refuse): PlacedTool[] {
  const placed: PlacedTool[] = [];
  for (const [index, tool] of (tools ?? []).entries()) {
    const path = `tools[${index}]`;
    const { type, tools: members } = tool as ResponseTool & { readonly tools?: unknown };
    if (isOwn(tool)) placed.push({ tool, namespace: undefined, path });
    else if (type !== "namespace" || !Array.isArray(members)) {
      refuse(`${path}.type`, `is ${JSON.stringify(type)}, a tool of the vendor`);
    } else {
      for (const [at, member] of (members as ResponseTool[]).entries()) {
        const memberPath = `${path}.tools[${at}]`;
        if (isOwn(member)) placed.push({ tool: member, namespace: tool.name, path: memberPath });
        else refuse(`${memberPath}.type`, `is ${JSON.stringify(member.type)}, a tool of the vendor`);
      }
    }
  }
  return placed;
}

function isOwn({ type }: ResponseTool): boolean {
  return type === "function" || type === "custom";
}

/** The name of a tool's function: that of its namespace comes first. */
export function functionName(name: string, namespace: string | undefined): string {
  return toFunctionName(namespace === undefined ? name : `${namespace}__${name}`);
}

function toChatTool({ tool, namespace, path }: PlacedTool): ChatTool {
  const { type, description, parameters, strict } = tool;
  if (tool.name === undefined) throw invalid(`${path}.name`, "is missing.");
  const name = functionName(tool.name, namespace);
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

/** @param tools those that the model gets @throws AppError invalid_request for a choice of no tool */
export function toChatToolChoice(
  choice: ResponseRequest["tool_choice"],
  tools: readonly ChatTool[],
  refuse: Refuse,
): ChatToolChoice | undefined {
  if (choice == null) return undefined;
  const { type, name, namespace, mode } = (isObject(choice) ? choice : { mode: choice }) as JsonObject;
  if (type === "function" || type === "custom") {
    const called = nonEmptyText(name);
    if (called === undefined) throw invalid("tool_choice.name", "is missing.");
    const chosen = functionName(called, nonEmptyText(namespace));
    if (tools.some((tool) => tool.function.name === chosen)) return { type: "function", function: { name: chosen } };
    throw invalid("tool_choice.name", `is ${JSON.stringify(called)}, which is not in tools.`);
  }
  if (type !== undefined && type !== "allowed_tools") {
    refuse("tool_choice.type", `is ${JSON.stringify(type)}, a tool of the vendor`);
  }
  if (tools.length > 0) return mode === "required" || mode === "none" ? mode : "auto";
  if (mode !== "required") return undefined;
  throw invalid(type === undefined ? "tool_choice" : "tool_choice.mode", 'is "required", but tools is empty.');
}

/** @throws AppError invalid_request for tools that are not there */
function allowedNames(
  choice: ResponseRequest["tool_choice"],
  placed: readonly PlacedTool[],
): ReadonlySet<string> | undefined {
  if (!isObject(choice) || choice["type"] !== "allowed_tools") return undefined;
  const { tools } = choice as { readonly tools?: unknown };
  if (!Array.isArray(tools)) throw invalid("tool_choice.tools", "is missing.");
  const known = new Set(placed.map(({ tool }) => tool.name));
  const names = tools.map((tool: unknown) => (isObject(tool) ? nonEmptyText(tool["name"]) : undefined));
  const missing = names.findIndex((name) => name === undefined || !known.has(name));
  if (missing === -1) return new Set(names.filter((name) => name !== undefined));
  const path = `tool_choice.tools[${missing}].name`;
  throw invalid(path, `is ${JSON.stringify(names[missing])}, which is not in tools.`);
}

/** A tool as the client knows it. */
export interface ClientTool {
  readonly name: string;
  readonly namespace: string | undefined;
  /** Whether it takes free text. */
  readonly isCustom: boolean;
}

/** Finds the tool whose function a model called. */
export function toolReader({ tools }: Pick<ResponseRequest, "tools">): (name: string) => ClientTool {
  let known: Map<string, ClientTool> | undefined;
  return (called) => {
    known ??= new Map(
      placedTools(tools, leaveOut).map(({ tool: { name = "", type }, namespace }) => [
        functionName(name, namespace),
        { name, namespace, isCustom: type === "custom" },
      ]),
    );
    return known.get(called) ?? { name: called, namespace: undefined, isCustom: false };
  };
}

/** The text that a model gave to a custom tool; its arguments if they are not what was asked for. */
export function readCustomInput(text: string): string {
  const input = parseObject(text)?.["input"];
  return typeof input === "string" ? input : text;
}

export function writeCustomInput(input: string): string {
  return JSON.stringify({ input });
}
