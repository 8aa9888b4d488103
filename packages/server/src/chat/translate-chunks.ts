/** Translates the chunks of a chat completion into the events of another wire, as they arrive. */
import type { ChatCompletionChunk } from "../api/chat-answer.ts";
import type { WireEvent } from "../engines/wire.ts";
import type { CallCost } from "../pricing/call-costs.ts";

/** One answer's translation, which emits events as it goes. */
export interface ChunkTranslation {
  add(chunk: ChatCompletionChunk): void;
  /** @throws AppError upstream_failed if there was no chunk */
  finish(): void;
}

export interface TranslationOutput {
  emit(event: WireEvent): void;
  /** What the answer costs, to be told with its usage; undefined if it is not known or not to be told. Asked after the last chunk. */
  toldCost(): CallCost | undefined;
}

interface Translated {
  readonly begin: (output: TranslationOutput) => ChunkTranslation;
  /** Called with each chunk before it is translated. */
  readonly onChunk?: (chunk: ChatCompletionChunk) => void;
  readonly toldCost?: () => CallCost | undefined;
}

/** The first event is yielded once the first chunk has arrived. Fails as the chunks do. @param open called once */
export async function* translateChunks(
  open: () => AsyncIterable<ChatCompletionChunk> | Promise<AsyncIterable<ChatCompletionChunk>>,
  { begin, onChunk, toldCost = () => undefined }: Translated,
): AsyncGenerator<WireEvent, void, undefined> {
  let events: WireEvent[] = [];
  const take = (): WireEvent[] => {
    const taken = events;
    events = [];
    return taken;
  };
  const translation = begin({ emit: (event) => events.push(event), toldCost });
  for await (const chunk of await open()) {
    onChunk?.(chunk);
    translation.add(chunk);
    // Not delegated: that would take a further promise for each.
    for (const event of take()) yield event;
  }
  translation.finish();
  for (const event of take()) yield event;
}
