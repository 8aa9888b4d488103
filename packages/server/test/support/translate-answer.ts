/** Translates the chunks of an answer that tells no cost. */
import type { ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import { translateChunks } from "../../src/chat/translate-chunks.ts";
import type { WireFormat, WireRequest } from "../../src/chat/wire.ts";
import type { WireEvent } from "../../src/engines/wire.ts";

export function translateAnswer<Request extends WireRequest>(
  fromChunks: WireFormat<Request>["fromChunks"],
  chunks: AsyncIterable<ChatCompletionChunk>,
  request: Request,
): AsyncGenerator<WireEvent, void, undefined> {
  return translateChunks(() => chunks, { begin: (output) => fromChunks(request, output) });
}
