/** The formats that speech is returned in and that recordings are read in, as data for the documentation. */
import { highestRate, lowestRate, mostChannels } from "./audio-input.ts";
import { compressedContents, type CompressedKind } from "./compressed-kind.ts";
import { audioContentTypes, audioFormats, audioSampleRates, type AudioFormat } from "./encoder.ts";
import { mostVorbisChannels } from "./flac-and-vorbis-reader.ts";
import { mp3Bitrates } from "./mp3-encoder.ts";
import { opusBitrate } from "./opus-encoder.ts";
import { otherFiles } from "./read-audio.ts";
import { sampleEncodings } from "./sample-encodings.ts";
import { otherWavEncodings, wavEncodings } from "./wav-format.ts";

export interface ReadableFormat {
  /** The kind of file. */
  readonly container: string;
  /** How the sound is encoded in it, each by its name. */
  readonly encodings: readonly string[];
  /** How the file is recognized: by its first bytes, or by what the request says of it. */
  readonly recognizedBy: string;
  readonly mostChannels: number;
}

/** FLAC has a number of channels in three bits; of Vorbis, the orders that its specification defines are read. */
const channelsOf: Partial<Record<CompressedKind, number>> = { mp3: 2, flac: 8, vorbis: mostVorbisChannels };

const byContent = "content";

export const readableFormats: readonly ReadableFormat[] = [
  {
    container: "WAV",
    encodings: wavEncodings.map((name) => sampleEncodings[name].name),
    recognizedBy: byContent,
    mostChannels,
  },
  ...Object.entries(compressedContents).map(([kind, { container, encoding }]) => ({
    container,
    encodings: [encoding],
    recognizedBy: byContent,
    mostChannels: channelsOf[kind as CompressedKind] ?? mostChannels,
  })),
  {
    container: "raw samples",
    encodings: [sampleEncodings.pcm16.name, sampleEncodings.pcm16BigEndian.name],
    recognizedBy: "`audio/pcm`, `audio/L16`, `.pcm`, `.raw`",
    mostChannels,
  },
];

/** In Hz. */
export const readableRates = { lowest: lowestRate, highest: highestRate };

/** Recognized, and refused by name with `unsupported_media_type`. */
export const refusedFormats = {
  files: otherFiles.map(({ name }) => name),
  wavEncodings: Object.values(otherWavEncodings),
};

interface ReturnedFormat {
  readonly format: AudioFormat;
  readonly mediaType: string;
  readonly contents: string;
  /** In kbit/s at each of `audioSampleRates`; undefined where samples are not compressed. */
  readonly bitrates: readonly number[] | undefined;
}

const contents: Readonly<Record<AudioFormat, string>> = {
  wav: "16-bit PCM",
  mp3: "MP3, constant bitrate",
  pcm: "16-bit little-endian samples without a header",
  opus: "Ogg Opus, variable bitrate",
};

const bitratesOf: Partial<Record<AudioFormat, (rate: number) => number>> = {
  mp3: (rate) => mp3Bitrates[rate as keyof typeof mp3Bitrates],
  opus: (rate) => opusBitrate(rate) / 1000,
};

export const returnedFormats: readonly ReturnedFormat[] = audioFormats.map((format) => {
  const bitrate = bitratesOf[format];
  return {
    format,
    mediaType: audioContentTypes[format],
    contents: contents[format],
    bitrates: bitrate === undefined ? undefined : audioSampleRates.map(bitrate),
  };
});
