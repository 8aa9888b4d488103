/** Parameters that are texts of a form: stop sequences, tools, a JSON schema, and other members as JSON. */
import { parseJsonText } from "./json-text.ts";

/** A value, nothing if the text is empty, or what is wrong with it. */
export interface Reading {
  readonly value?: unknown;
  readonly problem?: string;
}

type Members = Readonly<Record<string, unknown>>;

/** One sequence per line, in which `\n` and `\t` stand for characters that a line cannot have. */
export function readStop(text: string): Reading {
  const sequences = text.split("\n").filter((line) => line !== "");
  if (sequences.length > 4) return { problem: `There are ${sequences.length} stop sequences; at most 4 are allowed.` };
  if (sequences.length === 0) return {};
  const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };
  return {
    value: sequences.map((each) => each.replaceAll(/\\([ntr\\])/g, (_, letter: string) => escapes[letter] ?? "\\")),
  };
}

export function readResponseFormat(text: string, name: string): Reading {
  if (text.trim() === "") return { problem: "Enter a JSON schema, or select another format." };
  const { value, problem } = parseJsonText(text);
  if (problem !== undefined) return { problem };
  if (!isObject(value)) return { problem: `The schema is ${describe(value)}; it must be an object.` };
  return { value: { type: "json_schema", json_schema: { name, schema: value, strict: true } } };
}

export function readTools(text: string): Reading {
  if (text.trim() === "") return {};
  const { value, problem } = parseJsonText(text);
  if (problem !== undefined) return { problem };
  if (!Array.isArray(value)) return { problem: `The tools are ${describe(value)}; they must be a list: [ … ].` };
  for (const [index, tool] of value.entries()) {
    const wrong = toolProblem(tool);
    if (wrong !== undefined) return { problem: `tools[${index}]${wrong}` };
  }
  return value.length === 0 ? {} : { value };
}

function toolProblem(tool: unknown): string | undefined {
  if (!isObject(tool)) return ` is ${describe(tool)}; it must be an object.`;
  if (tool["type"] !== "function") return `.type is ${describe(tool["type"])}; it must be "function".`;
  const called = tool["function"];
  if (!isObject(called)) return `.function is ${describe(called)}; it must be an object with a name.`;
  const { name, parameters } = called;
  if (typeof name !== "string" || name === "" || name.length > 64)
    return `.function.name is ${describe(name)}; it must be a text of 1 to 64 characters.`;
  if (parameters !== undefined && !isObject(parameters))
    return `.function.parameters is ${describe(parameters)}; it must be a JSON schema.`;
  return undefined;
}

/** `auto`, `none`, `required`, or the name of one of the tools. */
export function readToolChoice(choice: string, tools: readonly unknown[] | undefined): Reading {
  if (choice === "") return {};
  if (tools === undefined) return choice === "none" ? {} : { problem: "Add the tools, or select the default." };
  if (choice === "auto" || choice === "none" || choice === "required") return { value: choice };
  if (!toolNames(tools).includes(choice)) return { problem: `No tool has the name ${JSON.stringify(choice)}.` };
  return { value: { type: "function", function: { name: choice } } };
}

/** The names of tools that `readTools` accepts. */
export function toolNames(tools: readonly unknown[]): string[] {
  return (tools as readonly { readonly function: { readonly name: string } }[]).map((tool) => tool.function.name);
}

/** Members that have their own place. */
const taken: Readonly<Record<string, string>> = {
  model: "Select the model above the conversation.",
  messages: "Write the messages in the conversation.",
  stream: "The playground always streams.",
  stream_options: "The playground always asks for the token counts.",
  n: "The playground shows one answer; compare two models instead.",
};

export function readExtra(text: string): Reading {
  if (text.trim() === "") return {};
  const { value, problem } = parseJsonText(text);
  if (problem !== undefined) return { problem };
  if (!isObject(value)) return { problem: `This is ${describe(value)}; it must be an object: { … }.` };
  const name = Object.keys(value).find((each) => Object.hasOwn(taken, each));
  return name === undefined ? { value } : { problem: `${JSON.stringify(name)} cannot be set here. ${taken[name]}` };
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
