/**
 * Encodes samples in the audio formats of speech responses, streaming or as a whole.
 * docs/adr/0013-speech.md
 */
import { AppError } from "../errors.ts";
import { type AudioFormat, audioContentTypes, type Encoder } from "./encoder.ts";
import { createMp3Encoder } from "./mp3-encoder.ts";
import { createOpusEncoder } from "./opus-encoder.ts";
import { joinBytes, toInt16Bytes } from "./samples.ts";
import { createWavEncoder } from "./wav-encoder.ts";

interface EncoderOptions {
  readonly format: AudioFormat;
  /** Of the samples that are pushed, in Hz; also of the output, except that Opus always decodes at its own 48 000. */
  readonly sampleRate: number;
  /** If false, `end` returns the whole file with its true sizes and length; nothing is returned before. */
  readonly stream: boolean;
}

/**
 * An encoder of mono samples. One that is dropped half-way needs no closing.
 * @throws AppError `invalid_request` if the format does not have the sample rate.
 */
export async function createEncoder({ format, sampleRate, stream }: EncoderOptions): Promise<Encoder> {
  if (!Number.isInteger(sampleRate) || sampleRate < 1000 || sampleRate > 384_000) {
    throw new AppError(
      "invalid_request",
      `sample_rate is ${String(sampleRate)}; it must be a whole number from 1000 to 384000 Hz.`,
      { param: "sample_rate" },
    );
  }
  switch (format) {
    case "wav":
      return createWavEncoder(sampleRate, stream);
    case "pcm": {
      const encoder = createPcmEncoder();
      return stream ? encoder : gathered(encoder);
    }
    case "mp3":
      return createMp3Encoder(sampleRate, stream);
    case "opus": {
      const encoder = await createOpusEncoder(sampleRate);
      return stream ? encoder : gathered(encoder);
    }
    default:
      return format satisfies never;
  }
}

/** Signed 16-bit little-endian samples, nothing around them. */
function createPcmEncoder(): Encoder {
  return {
    contentType: audioContentTypes.pcm,
    delaySeconds: 0,
    push: toInt16Bytes,
    end: () => new Uint8Array(0),
  };
}

/** An encoder whose bytes all come at the end. */
function gathered(encoder: Encoder): Encoder {
  const pieces: Uint8Array[] = [];
  return {
    contentType: encoder.contentType,
    delaySeconds: encoder.delaySeconds,
    push(samples) {
      pieces.push(encoder.push(samples));
      return new Uint8Array(0);
    },
    end: () => joinBytes([...pieces, encoder.end()]),
  };
}
