/** What text completions say, for limits, guardrails and telemetry. */
import type { ChatCompletion, ChatCompletionChunk, ChatUsage, FinishReason } from "../api/chat-answer.ts";
import { isObject, textOf, wholeNumber, type JsonObject } from "../json-object.ts";

/** @param count choices that were asked for; others are not read */
export function readCompletion(answer: JsonObject, count: number): ChatCompletion {
  const usage = readUsage(answer["usage"]);
  return {
    ...headOf(answer),
    object: "chat.completion",
    choices: choicesOf(answer, count).map(({ index, text, finish_reason }) => ({
      index,
      message: { role: "assistant", content: text },
      finish_reason,
    })),
    ...(usage === undefined ? {} : { usage }),
  };
}

export function readChunk(chunk: JsonObject, count: number): ChatCompletionChunk {
  const usage = readUsage(chunk["usage"]);
  return {
    ...headOf(chunk),
    object: "chat.completion.chunk",
    choices: choicesOf(chunk, count).map(({ index, text, finish_reason }) => ({
      index,
      delta: { content: text },
      finish_reason,
    })),
    ...(usage === undefined ? {} : { usage }),
  };
}

/** The answer with the texts of another. */
export function withTexts(answer: JsonObject, { choices }: ChatCompletion): JsonObject {
  const changed = new Map(choices.map((choice) => [choice.index, choice]));
  const rewrite = (choice: unknown): unknown => {
    if (!isObject(choice)) return choice;
    const found = changed.get(Number(choice["index"]));
    if (found === undefined) return choice;
    return { ...choice, text: found.message.content ?? "", finish_reason: found.finish_reason };
  };
  return { ...answer, choices: Array.isArray(answer["choices"]) ? answer["choices"].map(rewrite) : [] };
}

function headOf({ created, id, model }: JsonObject) {
  return { id: textOf(id), created: wholeNumber(created) ?? 0, model: textOf(model) };
}

const reasons: ReadonlySet<unknown> = new Set<FinishReason>(["stop", "length", "content_filter"]);

function choicesOf({ choices }: JsonObject, count: number) {
  if (!Array.isArray(choices)) return [];
  return choices.filter(isObject).flatMap((choice) => {
    const index = wholeNumber(choice["index"]) ?? 0;
    if (index >= count) return [];
    const { finish_reason: reason } = choice;
    const finishReason: FinishReason | null =
      reason == null ? null : reasons.has(reason) ? (reason as FinishReason) : "stop";
    return [{ index, text: textOf(choice["text"]), finish_reason: finishReason }];
  });
}

function readUsage(usage: unknown): ChatUsage | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = wholeNumber(usage["prompt_tokens"]);
  const completion = wholeNumber(usage["completion_tokens"]);
  if (prompt === undefined && completion === undefined) return undefined;
  const total = wholeNumber(usage["total_tokens"]) ?? (prompt ?? 0) + (completion ?? 0);
  return { ...usage, prompt_tokens: prompt ?? 0, completion_tokens: completion ?? 0, total_tokens: total };
}
