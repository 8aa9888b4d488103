/** Limits the length of a prompt before its tokens are counted, from the vocabulary's longest token. */
import { AppError } from "../../errors.ts";

export interface PromptLimit {
  /** Longest prompt that can fit into the context, in UTF-16 code units, of which each is a byte at least. */
  readonly characters: number;
  readonly contextSize: number;
}

/** The parts of a message whose text becomes prompt. */
interface PromptMessage {
  readonly content: string;
  readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[];
}

export function promptLimit(contextSize: number, longestTokenBytes: number): PromptLimit {
  return { characters: contextSize * Math.max(1, longestTokenBytes), contextSize };
}

/** The error for a prompt that cannot fit, however it is tokenized. */
export function overlongPrompt(characters: number, { characters: most, contextSize }: PromptLimit): AppError {
  return new AppError(
    "context_length_exceeded",
    `The messages have at least ${characters} characters, but the model's context of ${contextSize} tokens holds at most ${most}, including the completion. Shorten the messages.`,
    { param: "messages" },
  );
}

/** @throws AppError context_length_exceeded */
export function requireFit(messages: readonly PromptMessage[], limit: PromptLimit): void {
  let characters = messages.length;
  for (const { content, tool_calls: calls = [] } of messages) {
    characters += content.length;
    for (const call of calls) characters += call.function.arguments.length;
  }
  if (characters > limit.characters) throw overlongPrompt(characters, limit);
}
