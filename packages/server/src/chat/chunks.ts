/**
 * From an engine's chunks to the frames of the client's stream: one id, creation time and model for all of them, a
 * role in the first delta of every choice, usage only where it was asked for.
 */
import type { ChatCompletionChunk, ChatUsage } from "../api/chat-answer.ts";

/** What is learnt from the chunks as they pass. */
export interface ChunkObserver {
  /** Called with each chunk that carries a piece of the answer, not for the usage chunk. */
  onChunk(chunk: ChatCompletionChunk): void;
  onUsage(usage: ChatUsage): void;
}

export interface FrameOptions {
  readonly includeUsage: boolean;
  readonly observer: ChunkObserver;
}

/** What all chunks of a stream have in common, as the first one says it. */
type StreamHead = Pick<ChatCompletionChunk, "id" | "created" | "model">;

/** The JSON texts of the frames, in order. Ends and fails as the chunks do. */
export async function* toFrames(
  chunks: AsyncIterable<ChatCompletionChunk>,
  { includeUsage, observer }: FrameOptions,
): AsyncGenerator<string, void, undefined> {
  let head: StreamHead | undefined;
  let usage: ChatUsage | undefined;
  const begun = new Set<number>();
  for await (const chunk of chunks) {
    head ??= { id: chunk.id, created: chunk.created, model: chunk.model };
    if (chunk.usage != null) {
      usage = chunk.usage;
      observer.onUsage(usage);
    }
    // Engines may count in a chunk of its own, in the last one or in every one; the client gets one chunk at the end.
    if (chunk.choices.length === 0 && chunk.usage != null) continue;
    for (const choice of chunk.choices) {
      if (begun.has(choice.index)) continue;
      begun.add(choice.index);
      choice.delta.role ??= "assistant";
    }
    observer.onChunk(chunk);
    yield JSON.stringify(withHead(chunk, { ...head, usage: includeUsage ? null : undefined }));
  }
  if (includeUsage && usage !== undefined && head !== undefined) {
    yield JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage });
  }
}

/** Writes into the chunk, which nobody else holds: a copy of every chunk of every stream would be waste. */
function withHead(chunk: ChatCompletionChunk, head: StreamHead & { usage: null | undefined }): ChatCompletionChunk {
  chunk.id = head.id;
  chunk.created = head.created;
  chunk.model = head.model;
  if (head.usage === null) chunk.usage = null;
  else delete chunk.usage;
  return chunk;
}
