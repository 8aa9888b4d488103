/**
 * Turns an engine's chunks into the client's stream: all chunks have the same `id`, `created` and `model`, the first
 * delta of each choice has a role, and usage is sent only if requested.
 */
import type { ChatCompletionChunk, ChatUsage } from "../api/chat-answer.ts";

/** Notified as chunks pass. */
export interface ChunkObserver {
  /** Called for each chunk with content, not for the usage chunk. */
  onChunk(chunk: ChatCompletionChunk): void;
  /** @param isFinal false if more of the answer follows */
  onUsage(usage: ChatUsage, isFinal: boolean): void;
}

export interface FrameOptions {
  readonly includeUsage: boolean;
  readonly observer: ChunkObserver;
  /** Called once, after the last chunk, if the client gets the usage. */
  pricedUsage(usage: ChatUsage): ChatUsage;
}

/** @returns whether the chunk says more than the usage */
export function observeChunk(chunk: ChatCompletionChunk, observer: ChunkObserver): boolean {
  if (chunk.usage != null) observer.onUsage(chunk.usage, isLast(chunk));
  if (chunk.choices.length === 0 && chunk.usage != null) return false;
  observer.onChunk(chunk);
  return true;
}

/** Whether nothing of the answer follows. */
function isLast({ choices }: ChatCompletionChunk): boolean {
  return choices.every(({ finish_reason: reason }) => reason !== null);
}

/** The members that all chunks of a stream share, taken from the first. */
type StreamHead = Pick<ChatCompletionChunk, "id" | "created" | "model">;

/** The chunks as JSON. Ends and fails as the chunks do. */
export async function* toFrames(
  chunks: AsyncIterable<ChatCompletionChunk>,
  { includeUsage, observer, pricedUsage }: FrameOptions,
): AsyncGenerator<string, void, undefined> {
  let head: StreamHead | undefined;
  let usage: ChatUsage | undefined;
  const begun = new Set<number>();
  for await (const chunk of chunks) {
    head ??= { id: chunk.id, created: chunk.created, model: chunk.model };
    if (chunk.usage != null) {
      usage = chunk.usage;
      observer.onUsage(usage, isLast(chunk));
    }
    // Engines report usage in a separate chunk, in the last one or in every one; the client gets one chunk at the end.
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
    yield JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage: pricedUsage(usage) });
  }
}

/** Changes the chunk in place, since nothing else refers to it; copying every chunk would be wasteful. */
function withHead(chunk: ChatCompletionChunk, head: StreamHead & { usage: null | undefined }): ChatCompletionChunk {
  chunk.id = head.id;
  chunk.created = head.created;
  chunk.model = head.model;
  if (head.usage === null) chunk.usage = null;
  else delete chunk.usage;
  return chunk;
}
