/** Defines the interface of encoders, and the formats and sample rates of speech responses. */

export const audioFormats = ["wav", "mp3", "pcm", "opus"] as const;
export type AudioFormat = (typeof audioFormats)[number];

/** The sample rates, in Hz, that every format supports. */
export const audioSampleRates = [8000, 16_000, 22_050, 24_000, 44_100, 48_000] as const;

/** The media type of each format. */
export const audioContentTypes: Readonly<Record<AudioFormat, string>> = {
  wav: "audio/wav",
  mp3: "audio/mpeg",
  pcm: "audio/pcm",
  opus: "audio/ogg; codecs=opus",
};

export interface Encoder {
  readonly contentType: string;
  /**
   * The delay that encoding and decoding add. Add it to the times of words. It is zero for all four formats if the decoder
   * honors the file's encoder delay (mp3: LAME tag; opus: pre-skip).
   */
  readonly delaySeconds: number;
  /** Takes the next mono samples and returns the bytes that are ready, maybe none. */
  push(samples: Float32Array): Uint8Array;
  /** Returns the remaining bytes. Nothing may be pushed afterwards. */
  end(): Uint8Array;
}
