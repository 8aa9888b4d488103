/** What the top of a span's details says about a model call: from the attributes that Sounding understands. */
import type { TempoSpan } from "./tempo-json.ts";
import { plainAttributes, valueText } from "../../genai/any-value.ts";

export interface CallFacts {
  readonly operation: string | undefined;
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  readonly cachedTokens: number | undefined;
  readonly reasoningTokens: number | undefined;
  readonly cost: number | undefined;
  readonly timeToFirstTokenMs: number | undefined;
  readonly finishReasons: string | undefined;
}

/** By meaning, as docs/observability/instrumentations.md lists them: the first that is present applies. */
const names = {
  operation: ["gen_ai.operation.name"],
  model: [
    "gen_ai.response.model",
    "llm.response.model",
    "ai.response.model",
    "gen_ai.request.model",
    "llm.request.model",
    "llm.model_name",
    "embedding.model_name",
    "ai.model.id",
  ],
  provider: ["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system", "ai.model.provider"],
  inputTokens: [
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.inputTokens",
    "ai.usage.promptTokens",
  ],
  outputTokens: [
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.outputTokens",
    "ai.usage.completionTokens",
  ],
  cachedTokens: ["gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"],
  reasoningTokens: ["gen_ai.usage.reasoning.output_tokens", "llm.token_count.completion_details.reasoning"],
  cost: ["gen_ai.usage.cost", "llm.cost.total", "operation.cost"],
  finishReasons: ["gen_ai.response.finish_reasons", "ai.response.finishReason"],
} as const;

/** Seconds until the first token, text or audio. */
const secondsToFirst = [
  "gen_ai.response.time_to_first_chunk",
  "sounding.speech.time_to_first_audio",
  "sounding.transcription.time_to_first_text",
];

export function callFacts({ attributes }: Pick<TempoSpan, "attributes">): CallFacts {
  const values = plainAttributes(attributes);
  const first = (list: readonly string[]): unknown =>
    list.map((name) => values[name]).find((value) => value !== undefined);
  const text = (list: readonly string[]): string | undefined => {
    const value = first(list);
    if (value === undefined || value === null || value === "") return undefined;
    return Array.isArray(value) ? value.map(String).join(", ") : valueText(value);
  };
  const number = (list: readonly string[]): number | undefined => {
    const value = first(list);
    const number = typeof value === "number" ? value : typeof value === "string" && value !== "" ? Number(value) : NaN;
    return Number.isFinite(number) ? number : undefined;
  };
  const seconds = number(secondsToFirst);
  return {
    operation: text(names.operation),
    model: text(names.model),
    provider: text(names.provider),
    inputTokens: number(names.inputTokens),
    outputTokens: number(names.outputTokens),
    cachedTokens: number(names.cachedTokens),
    reasoningTokens: number(names.reasoningTokens),
    cost: number(names.cost),
    timeToFirstTokenMs: seconds === undefined ? number(["ai.response.msToFirstChunk"]) : seconds * 1_000,
    finishReasons: text(names.finishReasons),
  };
}

/** Whether a span is a call of a model that generates text. */
export function isChatCall(facts: CallFacts): boolean {
  if (facts.operation === undefined) return facts.model !== undefined && facts.outputTokens !== undefined;
  return ["chat", "text_completion", "generate_content"].includes(facts.operation);
}
