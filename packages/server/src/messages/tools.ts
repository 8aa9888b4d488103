/** Tools and the choice among them, as chat completions have them. */
import type { ChatRequest, ChatTool } from "../api/chat-request.ts";
import type { MessageRequest, MessageTool } from "../api/messages-request.ts";
import { nonEmptyText, type JsonObject } from "../json-object.ts";
import { withCacheHint } from "./cache-hints.ts";
import { toFunctionName } from "../chat/tool-names.ts";
import { invalid, type Refuse } from "../chat/untranslatable.ts";

/** Members without a meaning for a model that chat completions reach. */
const hints = new Set(["type", "cache_control", "eager_input_streaming"]);
const translated = new Set(["name", "description", "input_schema", "strict", "input_examples"]);
/** Values that ask for what happens anyway. */
const harmless: Readonly<Record<string, (value: unknown) => boolean>> = {
  defer_loading: (value) => value === false,
  allowed_callers: (value) => Array.isArray(value) && value.every((caller) => caller === "direct"),
};

/** Tools in their order; those of the vendor are refused by name. */
export function toChatTools(tools: readonly MessageTool[], refuse: Refuse): ChatTool[] {
  return tools.flatMap((tool, index) => {
    const path = `tools[${index}]`;
    const type = tool.type ?? "custom";
    if (type !== "custom") {
      refuse(`${path}.type`, `is ${JSON.stringify(type)}; only tools of the client, with input_schema, are supported`);
      return [];
    }
    for (const [name, value] of Object.entries(tool)) {
      if (value == null || hints.has(name) || translated.has(name) || harmless[name]?.(value) === true) continue;
      refuse(`${path}.${name}`, "is set");
    }
    return [withCacheHint(toChatTool(tool, path), tool)];
  });
}

function toChatTool(tool: MessageTool, path: string): ChatTool {
  const { description, input_schema: schema, strict } = tool;
  const name = nonEmptyText(tool.name);
  if (name === undefined) throw invalid(`${path}.name`, "is missing.");
  if (schema === undefined) throw invalid(`${path}.input_schema`, "is missing.");
  const { input_examples: examples } = tool as JsonObject;
  return {
    type: "function",
    function: {
      name: toFunctionName(name),
      ...(description === undefined ? {} : { description }),
      parameters: Array.isArray(examples) ? { ...schema, examples } : schema,
      ...(strict == null ? {} : { strict }),
    },
  };
}

/** `tool_choice` and `parallel_tool_calls`. @throws AppError invalid_request for a choice of no tool */
export function toChatToolChoice(
  { tool_choice: choice }: Pick<MessageRequest, "tool_choice">,
  tools: readonly ChatTool[],
): Pick<ChatRequest, "tool_choice" | "parallel_tool_calls"> {
  if (choice == null) return {};
  if (tools.length === 0) {
    if (choice.type === "auto" || choice.type === "none") return {};
    throw invalid("tool_choice.type", `is ${JSON.stringify(choice.type)}, but tools is empty.`);
  }
  const parallel = choice.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {};
  switch (choice.type) {
    case "any":
      return { tool_choice: "required", ...parallel };
    case "tool":
      return { tool_choice: { type: "function", function: { name: chosenName(choice.name, tools) } }, ...parallel };
    case "none":
      return { tool_choice: "none" };
    case "auto":
    default:
      return { tool_choice: "auto", ...parallel };
  }
}

function chosenName(chosen: string | undefined, tools: readonly ChatTool[]): string {
  if (chosen === undefined) throw invalid("tool_choice.name", 'is missing; type "tool" needs the name of a tool.');
  const name = toFunctionName(chosen);
  if (tools.some((tool) => tool.function.name === name)) return name;
  throw invalid("tool_choice.name", `is ${JSON.stringify(chosen)}, which is not in tools.`);
}
