/** Synthesized speech as a whole, with methods to read and store it. */
import { checkedChunkSize, chunksOf, type ChunkedBytes } from "../chunks.ts";
import { fromBase64 } from "../base64.ts";
import { InvalidAnswerError } from "../errors.ts";
import type { SpeechWithBoundaries, TTSWordBoundaryEvent } from "../generated/types.ts";
import type { Mode, Out, Transport } from "../mode.ts";
import { keepHead, readJson, type WholeAnswer } from "../response.ts";

/** Default size of a chunk in bytes. */
const usualChunkBytes = 64 * 1024;

export class TTSResponse<M extends Mode = "async"> {
  /** The audio. */
  readonly content: Uint8Array;
  /**
   * When each word, punctuation mark and sentence is spoken, in order of time; present only if `enable_word_boundary`
   * was true.
   */
  declare readonly word_boundaries?: readonly TTSWordBoundaryEvent[];
  readonly #transport: Transport<M>;

  constructor(content: Uint8Array, boundaries: readonly TTSWordBoundaryEvent[] | undefined, transport: Transport<M>) {
    this.content = content;
    if (boundaries !== undefined) this.word_boundaries = boundaries;
    this.#transport = transport;
  }

  /** The audio in chunks of `chunkSize` bytes, the last one possibly shorter; for `for` and `for await`. */
  iter_bytes(chunkSize: number = usualChunkBytes): ChunkedBytes {
    return chunksOf(this.content, checkedChunkSize(chunkSize));
  }

  /** Same as `iter_bytes`. */
  iterBytes(chunkSize?: number): ChunkedBytes {
    return this.iter_bytes(chunkSize);
  }

  /** Writes the audio to a file, replacing its content. Node, Deno and Bun only. */
  write_to_file(path: string | URL): Out<M, void> {
    return this.#transport.writeFile(path, [this.content]);
  }

  /** Same as `write_to_file`. */
  writeToFile(path: string | URL): Out<M, void> {
    return this.write_to_file(path);
  }

  /** Writes the audio to a file chunk by chunk. Node, Deno and Bun only. */
  stream_to_file(path: string | URL, chunkSize?: number): Out<M, void> {
    return this.#transport.writeFile(path, this.iter_bytes(chunkSize));
  }

  /** Same as `stream_to_file`. */
  streamToFile(path: string | URL, chunkSize?: number): Out<M, void> {
    return this.stream_to_file(path, chunkSize);
  }
}

/** Reads audio, or JSON with audio and word boundaries. Throws InvalidAnswerError for anything else. */
export function readSpeech<M extends Mode>(answer: WholeAnswer, transport: Transport<M>): TTSResponse<M> {
  const type = answer.head.headers.get("content-type");
  if (isAudio(type)) return keepHead(new TTSResponse(answer.bytes, undefined, transport), answer.head);
  const { audio, word_boundaries: boundaries } = readJson(answer) as SpeechWithBoundaries;
  if (typeof audio !== "string") throw new InvalidAnswerError(`The response contains no audio (${type}).`);
  return keepHead(new TTSResponse(fromBase64(audio), boundaries, transport), answer.head);
}

/** Whether a media type is audio, or unspecific. */
export function isAudio(type: string | null): boolean {
  return type === null || /^(audio\/|application\/(octet-stream|ogg)\b)/i.test(type);
}
