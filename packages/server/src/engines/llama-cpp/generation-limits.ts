/** Limits the parts of a request whose cost for a local model grows with their size, before anything is copied. */
import type { ChatRequest } from "../../api/chat-request.ts";
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";

const area = "Chat completions";
const error = "invalid_request";
const schemaCharacters = inputLimit({
  area,
  bounds: "Length of a schema in response_format.json_schema, for llama.cpp models",
  value: 262_144,
  unit: "characters",
  error,
});
const schemaValues = inputLimit({
  area,
  bounds: "Members and items of a schema in response_format.json_schema, for llama.cpp models",
  value: 50_000,
  error,
});
const toolCharacters = inputLimit({
  area,
  bounds: "Length of all tools of a call, for llama.cpp models",
  value: 1_048_576,
  unit: "characters",
  error,
});
const toolValues = inputLimit({
  area,
  bounds: "Members and items of all tools of a call, for llama.cpp models",
  value: 50_000,
  error,
});
const templateCharacters = inputLimit({
  area,
  bounds: "Length of chat_template_kwargs, for llama.cpp models",
  value: 65_536,
  unit: "characters",
  error,
});
const templateValues = inputLimit({
  area,
  bounds: "Members and items of chat_template_kwargs, for llama.cpp models",
  value: 5_000,
  error,
});
const biases = inputLimit({ area, bounds: "Tokens in logit_bias, for llama.cpp models", value: 1_024, error });
const stopCharacters = inputLimit({
  area,
  bounds: "Length of a stop sequence, for llama.cpp models",
  value: 1_024,
  unit: "characters",
  error,
});
export const maximumLogprobs = inputLimit({
  area,
  bounds:
    "Log probabilities in one response of a llama.cpp model: tokens of all choices, or of the prompt, times the number of alternatives plus one",
  value: 200_000,
  error,
});

interface Size {
  readonly characters: number;
  readonly values: number;
}

/**
 * @param contextSize most tokens that an answer can have
 * @throws AppError invalid_request
 */
export function requireBounded(request: ChatRequest, contextSize: number): void {
  const format = request.response_format;
  if (format?.type === "json_schema") {
    const most = { characters: schemaCharacters, values: schemaValues };
    requireSize("response_format.json_schema.schema", format.json_schema.schema, most);
  }
  requireSize("tools", request.tools, { characters: toolCharacters, values: toolValues });
  const variables = (request as Record<string, unknown>)["chat_template_kwargs"];
  requireSize("chat_template_kwargs", variables, { characters: templateCharacters, values: templateValues });
  const biased = Object.keys(request.logit_bias ?? {}).length;
  if (biased > biases) throw tooMany("logit_bias", `it names ${biased} tokens; at most ${biases} are allowed`);
  for (const [index, sequence] of [request.stop ?? []].flat().entries()) {
    if (sequence.length <= stopCharacters) continue;
    throw tooMany(`stop[${index}]`, `it has ${sequence.length} characters; at most ${stopCharacters} are allowed`);
  }
  requireFewLogprobs(request, contextSize);
}

function requireFewLogprobs(request: ChatRequest, contextSize: number): void {
  // A stream sends each as it comes.
  if (request.logprobs !== true || request.stream === true) return;
  const { n, top_logprobs: alternatives, max_completion_tokens: limit, max_tokens: olderLimit } = request;
  const tokens = Math.min(limit ?? Infinity, olderLimit ?? Infinity, contextSize);
  const values = (n ?? 1) * tokens * ((alternatives ?? 0) + 1);
  if (values <= maximumLogprobs) return;
  throw tooMany(
    "logprobs",
    `n, the maximum number of tokens and top_logprobs allow up to ${values} log probabilities; at most ${maximumLogprobs} are allowed in one response. Set max_tokens, lower top_logprobs, or use stream`,
  );
}

function requireSize(param: string, value: unknown, most: Size): void {
  if (value == null) return;
  const exceeded = exceededPart(value, most);
  if (exceeded === undefined) return;
  throw tooMany(
    param,
    exceeded === "characters"
      ? `it is longer than ${most.characters} characters, which is the limit`
      : `it has more than ${most.values} members and items, which is the limit`,
  );
}

/** Stops counting as soon as one of the limits is exceeded. */
function exceededPart(value: unknown, most: Size): keyof Size | undefined {
  let characters = 0;
  let values = 0;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (++values > most.values) return "values";
    if (typeof next === "string") characters += next.length;
    else if (typeof next === "object" && next !== null) {
      for (const name in next) {
        open.push((next as Record<string, unknown>)[name]);
        characters += Array.isArray(next) ? 1 : name.length;
        if (open.length > most.values) return "values";
      }
    }
    if (characters > most.characters) return "characters";
  }
  return undefined;
}

function tooMany(param: string, problem: string): AppError {
  return new AppError("invalid_request", `${param}: ${problem}.`, { param });
}
