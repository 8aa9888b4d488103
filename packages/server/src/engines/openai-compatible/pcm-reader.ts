/**
 * Decodes samples from a response: raw 16-bit PCM at OpenAI's 24,000 Hz unless a header says otherwise, or WAV, which some
 * servers send regardless of the requested format.
 */
import { compressedKind, kindNames, type CompressedKind } from "../../audio/compressed-kind.ts";
import { splitFrames } from "../../audio/mp3-frames.ts";
import { readAudio } from "../../audio/read-audio.ts";
import { AppError } from "../../errors.ts";
import type { SpeechPiece } from "../engine.ts";
import type { ResponseHeaders } from "../upstream-http/response-reader.ts";

export type PcmChunk = Pick<SpeechPiece, "sampleRate" | "samples">;

interface AnswerBytes {
  readonly bytes: Buffer;
  readonly headers: ResponseHeaders;
}

const openAiRate = 24_000;

/** @throws AppError upstream_failed for bytes that are not supported audio */
export async function* readPcm(answer: AsyncGenerator<AnswerBytes, void, undefined>): AsyncGenerator<PcmChunk, void> {
  const first = await answer.next();
  if (first.done === true) throw notAudio("it is empty");
  const { headers } = first.value;
  const type = String(headers["content-type"] ?? "");
  const mediaType = `audio/pcm; rate=${String(headers["x-sample-rate"] ?? /\brate\s*=\s*"?(\d+)/i.exec(type)?.[1] ?? openAiRate)}`;
  const rest = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield first.value.bytes;
      for await (const { bytes } of answer) yield bytes;
    } finally {
      await answer.return();
    }
  };
  try {
    if (/json|text\//i.test(type)) throw notAudio(`its type is ${JSON.stringify(type.slice(0, 100))}`);
    const kind = kindOf(first.value.bytes, type);
    if (kind !== undefined) throw notAudio(`it is ${kindNames[kind]}`);
    const input = await readAudio(rest(), { mediaType });
    const { sampleRate } = input;
    for await (const each of input.open()) yield { sampleRate, samples: Float32Array.from(each) };
  } catch (error) {
    // The same reader blames the caller for a bad upload; here the engine is at fault.
    const isReading =
      error instanceof AppError && (error.code === "invalid_request" || error.code === "unsupported_media_type");
    throw isReading ? notAudio(error.message, error) : error;
  } finally {
    await answer.return();
  }
}

/** Undefined for samples. Their bytes can look like the start of an MP3 frame, but not like two in a row. */
function kindOf(start: Buffer, type: string): CompressedKind | undefined {
  const kind = compressedKind(start);
  const isDeclaredPcm = /^\s*audio\/(?:x-)?(?:pcm|l16|wav|wave)\b/i.test(type);
  return kind === "mp3" && isDeclaredPcm && splitFrames(start, 2).count < 2 ? undefined : kind;
}

function notAudio(why: string, cause?: unknown): AppError {
  return new AppError("upstream_failed", "The engine's response is not the requested audio.", {
    cause: cause ?? new Error(why),
  });
}
