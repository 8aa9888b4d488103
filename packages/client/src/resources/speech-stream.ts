/** Streamed speech: bytes, or JSON lines with bytes and word boundaries. */
import { fromBase64 } from "../base64.ts";
import { checkedChunkSize, createChunker } from "../chunks.ts";
import { InvalidAnswerError, StreamError } from "../errors.ts";
import type { TTSWordBoundaryEvent } from "../generated/types.ts";
import type { EventStream, Items, Iteration, Mode, Out, StreamDecoder, Transform, Transport } from "../mode.ts";
import { createNdjsonDecoder } from "../ndjson.ts";
import { errorDetails, memberOf, type AnswerHead } from "../response.ts";
import { isAudio } from "./tts-response.ts";

/** An item of a stream with word boundaries. A boundary comes before the audio that contains it. */
export type SpeechItem = Uint8Array | TTSWordBoundaryEvent;

/** The stream of synthesized speech. Read it with one loop, or with one of these methods. */
export type SpeechStream<M extends Mode, Item extends SpeechItem = Uint8Array> = EventStream<M, Item> & {
  /** The audio only, in chunks of `chunkSize` bytes, the last one possibly shorter; without a size, as it arrives. */
  iter_bytes(chunkSize?: number): Iteration<M, Uint8Array>;
  /** Same as `iter_bytes`. */
  iterBytes(chunkSize?: number): Iteration<M, Uint8Array>;
  /**
   * Writes the audio to a file as it arrives. Node, Deno and Bun only. If the stream fails, the audio received so far
   * stays in the file.
   */
  stream_to_file(path: string | URL, chunkSize?: number): Out<M, void>;
  /** Same as `stream_to_file`. */
  streamToFile(path: string | URL, chunkSize?: number): Out<M, void>;
};

/** Adds the helper methods to a stream. */
export function toSpeechStream<M extends Mode, Item extends SpeechItem>(
  stream: EventStream<M, Item>,
  transport: Transport<M>,
): SpeechStream<M, Item> {
  // A stream of either mode is a source of items in its own mode, which the compiler cannot see while M is open.
  const items = stream as unknown as Items<M, SpeechItem>;
  const audio = (chunkSize?: number): Iteration<M, Uint8Array> =>
    transport.transform(items, createAudioFilter(chunkSize));
  const toFile = (path: string | URL, chunkSize?: number): Out<M, void> => transport.writeFile(path, audio(chunkSize));
  return Object.assign(stream, {
    iter_bytes: audio,
    iterBytes: audio,
    stream_to_file: toFile,
    streamToFile: toFile,
  });
}

/** Removes word boundaries, and splits the audio into chunks if a size is given. */
function createAudioFilter(chunkSize: number | undefined): Transform<SpeechItem, Uint8Array> {
  const chunker = chunkSize === undefined ? undefined : createChunker(checkedChunkSize(chunkSize));
  return {
    push(item) {
      if (!(item instanceof Uint8Array)) return [];
      return chunker?.push(item) ?? [item];
    },
    end: () => chunker?.end() ?? [],
  };
}

/**
 * Selects the decoder by the response's media type.
 * @throws InvalidAnswerError if it is neither audio nor JSON lines
 */
export function createSpeechDecoder(head: AnswerHead): StreamDecoder<SpeechItem> {
  const type = head.headers.get("content-type");
  if (isAudio(type)) return { push: (bytes) => (bytes.length === 0 ? [] : [bytes]), end: () => [], finished: false };
  if (!/^application\/(x-)?ndjson\b/i.test(type ?? "")) {
    throw new InvalidAnswerError(`The response is ${type}; expected a stream of audio.`);
  }
  const lines = createNdjsonDecoder();
  return {
    push: (bytes) => readLines(lines.push(bytes), head),
    end: () => readLines(lines.end(), head),
    finished: false,
  };
}

/** Unknown kinds of lines are skipped. */
function* readLines(lines: Iterable<object>, head: AnswerHead): Generator<SpeechItem, void, void> {
  for (const line of lines) {
    const type = memberOf(line, "type");
    if (type === "error") throw new StreamError(errorDetails(line, head, "The server reported an error."));
    if (type === "word_boundary") yield line as TTSWordBoundaryEvent;
    if (type === "audio") yield fromBase64(String(memberOf(line, "data")));
  }
}
