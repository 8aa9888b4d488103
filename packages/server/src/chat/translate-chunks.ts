/** Translates the chunks of a chat completion into the events of another wire, as they arrive. */
import type { ChatCompletionChunk } from "../api/chat-answer.ts";
import type { WireEvent } from "../engines/wire.ts";

/** One call's translation, which emits events as it goes. */
export interface ChunkTranslation {
  add(chunk: ChatCompletionChunk): void;
  /** @throws AppError upstream_failed if there was no chunk */
  finish(): void;
}

/** The first event is yielded once the first chunk has arrived. Fails as the chunks do. */
export async function* translateChunks(
  chunks: AsyncIterable<ChatCompletionChunk>,
  begin: (emit: (event: WireEvent) => void) => ChunkTranslation,
): AsyncGenerator<WireEvent, void, undefined> {
  let events: WireEvent[] = [];
  const take = (): WireEvent[] => {
    const taken = events;
    events = [];
    return taken;
  };
  const translation = begin((event) => events.push(event));
  for await (const chunk of chunks) {
    translation.add(chunk);
    // Not delegated: that would take a further promise for each.
    for (const event of take()) yield event;
  }
  translation.finish();
  for (const event of take()) yield event;
}
