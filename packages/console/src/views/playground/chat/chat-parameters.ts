/** The parameters of a chat request as people type them, their ranges, and the request that they give. */
import { parseJsonText } from "./json-text.ts";
import {
  readExtra,
  readResponseFormat,
  readStop,
  readToolChoice,
  readTools,
  type Reading,
} from "./structured-parameters.ts";

/** As typed; empty: the model's default. */
export interface ChatParameters {
  readonly temperature: string;
  readonly top_p: string;
  readonly max_completion_tokens: string;
  readonly stop: string;
  readonly seed: string;
  readonly frequency_penalty: string;
  readonly presence_penalty: string;
  readonly reasoning_effort: string;
  readonly top_logprobs: string;
  readonly response_format: string;
  readonly schema_name: string;
  readonly schema: string;
  readonly tools: string;
  readonly tool_choice: string;
  readonly user: string;
  readonly extra: string;
}

export type ParameterName = keyof ChatParameters;

export const emptyParameters: ChatParameters = {
  temperature: "",
  top_p: "",
  max_completion_tokens: "",
  stop: "",
  seed: "",
  frequency_penalty: "",
  presence_penalty: "",
  reasoning_effort: "",
  top_logprobs: "",
  response_format: "",
  schema_name: "",
  schema: "",
  tools: "",
  tool_choice: "",
  user: "",
  extra: "",
};

/** Short ones, which are in the address. */
export const addressParameters = [
  "temperature",
  "top_p",
  "max_completion_tokens",
  "stop",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  "reasoning_effort",
  "top_logprobs",
  "response_format",
  "tool_choice",
  "user",
] as const satisfies readonly ParameterName[];

interface NumberRange {
  readonly minimum: number;
  readonly maximum: number;
  readonly whole: boolean;
}

/** As docs/reference/interface.md has them. */
export const numberRanges = {
  temperature: { minimum: 0, maximum: 2, whole: false },
  top_p: { minimum: 0, maximum: 1, whole: false },
  max_completion_tokens: { minimum: 1, maximum: Number.MAX_SAFE_INTEGER, whole: true },
  seed: { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, whole: true },
  frequency_penalty: { minimum: -2, maximum: 2, whole: false },
  presence_penalty: { minimum: -2, maximum: 2, whole: false },
  top_logprobs: { minimum: 0, maximum: 20, whole: true },
} as const satisfies Partial<Record<ParameterName, NumberRange>>;

export type Problems = Partial<Record<ParameterName, string>>;

/** Members of a request body, or what is wrong with the parameters. */
export function readParameters(parameters: ChatParameters): {
  readonly members: Readonly<Record<string, unknown>>;
  readonly problems: Problems;
} {
  const problems: Problems = {};
  const members: Record<string, unknown> = {};
  const add = (name: ParameterName, { value, problem }: Reading, member: string = name): void => {
    if (problem !== undefined) problems[name] = problem;
    else if (value !== undefined) members[member] = value;
  };
  for (const name of Object.keys(numberRanges) as (keyof typeof numberRanges)[])
    add(name, readNumber(parameters[name], numberRanges[name]));
  if (members["top_logprobs"] !== undefined) members["logprobs"] = true;
  add("stop", readStop(parameters.stop));
  if (parameters.reasoning_effort !== "") members["reasoning_effort"] = parameters.reasoning_effort;
  if (parameters.response_format === "json_schema") {
    const name = parameters.schema_name.trim() || "answer";
    if (!/^[\w-]{1,64}$/.test(name)) problems.schema_name = "Use 1 to 64 letters, digits, underscores and hyphens.";
    add("schema", readResponseFormat(parameters.schema, name), "response_format");
  } else if (parameters.response_format === "json_object") members["response_format"] = { type: "json_object" };
  const tools = readTools(parameters.tools);
  add("tools", tools);
  add("tool_choice", readToolChoice(parameters.tool_choice, tools.value as readonly unknown[] | undefined));
  if (parameters.user.length > 4096)
    problems.user = `This has ${parameters.user.length} characters; at most 4096 are allowed.`;
  else if (parameters.user !== "") members["user"] = parameters.user;
  const extra = readExtra(parameters.extra);
  if (extra.problem === undefined) Object.assign(members, extra.value);
  else problems.extra = extra.problem;
  return { members, problems };
}

function readNumber(text: string, { minimum, maximum, whole }: NumberRange): Reading {
  const trimmed = text.trim();
  if (trimmed === "") return {};
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (value >= minimum && value <= maximum && (!whole || Number.isInteger(value))) return { value };
  const kind = whole ? "a whole number" : "a number";
  if (maximum === Number.MAX_SAFE_INTEGER)
    return { problem: minimum > 0 ? `Enter ${kind} of at least ${minimum}.` : `Enter ${kind}.` };
  return { problem: `Enter ${kind} from ${minimum} to ${maximum}.` };
}

/** The field that the server's `param` is about: `tools[0].function.name` is about the tools. */
export function parameterOf(param: string | undefined, parameters: ChatParameters): ParameterName | undefined {
  const name = param?.split(/[.[]/)[0] ?? "";
  if (name === "response_format") return parameters.response_format === "json_schema" ? "schema" : "response_format";
  if (name === "logprobs") return "top_logprobs";
  if (name === "max_tokens") return "max_completion_tokens";
  if (Object.hasOwn(emptyParameters, name)) return name as ParameterName;
  const extra = parseJsonText(parameters.extra).value;
  return typeof extra === "object" && extra !== null && Object.hasOwn(extra, name) ? "extra" : undefined;
}
