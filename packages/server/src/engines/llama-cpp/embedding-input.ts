/** Limits the length of texts that a model embeds. */
import { AppError } from "../../errors.ts";
import type { PromptLimit } from "./prompt-limit.ts";
import type { EmbeddingInput } from "./protocol.ts";

const advice = "Shorten it, or split it into several inputs.";

/** @throws AppError context_length_exceeded for a text that cannot fit, however it is tokenized */
export function requireInputFit({ text, param }: EmbeddingInput, { characters, contextSize }: PromptLimit): void {
  if (typeof text !== "string") {
    if (text.length > contextSize) throw overlongInput(param, text.length, contextSize);
    return;
  }
  if (text.length <= characters) return;
  throw new AppError(
    "context_length_exceeded",
    `${param} has ${text.length} characters, but the model takes at most ${contextSize} tokens and ${characters} characters. ${advice}`,
    { param },
  );
}

/** @param tokens their number, or the least that it can be */
export function overlongInput(param: string, tokens: number, contextSize: number, isWhole = true): AppError {
  return new AppError(
    "context_length_exceeded",
    `${param} has ${tokens} tokens${isWhole ? "" : " or more"}, but the model takes at most ${contextSize}. ${advice}`,
    { param },
  );
}
