/**
 * Joins several choices from a vendor that returns one per call: `n` concurrent calls become one answer. Usage is the
 * sum, since the vendor counts, and bills, the prompt of each call.
 */
import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import type { ChatCompletion, ChatCompletionChunk, ChatUsage } from "../../api/chat-answer.ts";
import { addUsage } from "./response.ts";

/** The seed of one choice: moved on from the request's, so that the choices differ and can be repeated. */
export function seedOf({ seed }: LanguageModelV4CallOptions, index: number): { seed?: number } {
  return seed === undefined ? {} : { seed: seed + index };
}

/** One completion of several, each of one choice. */
export function joinCompletions(completions: readonly ChatCompletion[]): ChatCompletion {
  const usage = completions.map((each) => each.usage).reduce(addUsage, undefined);
  return {
    ...completions[0]!,
    choices: completions.flatMap((each, index) => each.choices.map((choice) => ({ ...choice, index }))),
    ...(usage === undefined ? {} : { usage }),
  };
}

interface Arrival {
  readonly index: number;
  readonly result: IteratorResult<ChatCompletionChunk>;
}

type Source = AsyncGenerator<ChatCompletionChunk>;

async function* interleave(sources: readonly Source[]): AsyncGenerator<{ index: number; chunk: ChatCompletionChunk }> {
  const next = async (index: number): Promise<Arrival> => ({ index, result: await sources[index]!.next() });
  const pending = new Map(sources.map((_, index) => [index, next(index)]));
  try {
    while (pending.size > 0) {
      const { index, result } = await Promise.race(pending.values());
      if (result.done === true) {
        pending.delete(index);
        continue;
      }
      pending.set(index, next(index));
      yield { index, chunk: result.value };
    }
  } finally {
    for (const each of pending.values()) each.catch(() => {});
  }
}

/**
 * Merges the chunks of several streams as they arrive: with one head, each under its choice's index, and
 * one usage at the end. `cancel` must end every source; it is called when one fails or the reader leaves.
 */
export async function* joinStreams(
  sources: readonly Source[],
  cancel: () => void,
): AsyncGenerator<ChatCompletionChunk> {
  let usage: ChatUsage | undefined;
  let head: Pick<ChatCompletionChunk, "id" | "created" | "model" | "object"> | undefined;
  try {
    for await (const { index, chunk } of interleave(sources)) {
      head ??= { id: chunk.id, created: chunk.created, model: chunk.model, object: chunk.object };
      if (chunk.usage !== undefined && chunk.usage !== null) usage = addUsage(usage, chunk.usage);
      if (chunk.choices.length > 0)
        yield { ...chunk, ...head, choices: chunk.choices.map((each) => ({ ...each, index })) };
    }
    if (head !== undefined && usage !== undefined) yield { ...head, choices: [], usage };
  } finally {
    cancel();
    await Promise.allSettled(sources.map((source) => source.return(undefined)));
  }
}
