/** Translates the chunks of a chat completion into the events of another wire, as they arrive. */
import type { ChatCompletionChunk } from "../api/chat-answer.ts";
import type { WireEvent } from "../engines/wire.ts";

/** One call's translation. */
export interface ChunkTranslation {
  add(chunk: ChatCompletionChunk): void;
  /** @throws AppError upstream_failed if there was no chunk */
  finish(): void;
  /** What has to be sent since the last time. */
  take(): WireEvent[];
}

/** The first event is yielded once the first chunk has arrived. Fails as the chunks do. */
export async function* translateChunks(
  chunks: AsyncIterable<ChatCompletionChunk>,
  translation: ChunkTranslation,
): AsyncGenerator<WireEvent, void, undefined> {
  for await (const chunk of chunks) {
    translation.add(chunk);
    yield* translation.take();
  }
  translation.finish();
  yield* translation.take();
}
