/** Renders docs/reference/audio-formats.md from the encoders and decoders. */
import {
  readableFormats,
  readableRates,
  refusedFormats,
  returnedFormats,
} from "../packages/server/src/audio/audio-formats.ts";
import { audioSampleRates } from "../packages/server/src/audio/encoder.ts";

export function renderAudioFormats(): string {
  const returned = returnedFormats.map(
    ({ format, mediaType, contents, bitrates }) =>
      `| \`${format}\` | \`${mediaType}\` | ${contents} | ${bitrates === undefined ? "–" : bitrates.join(", ")} |`,
  );
  const readable = readableFormats.map(
    ({ container, encodings, recognizedBy, mostChannels }) =>
      `| ${container} | ${encodings.join("; ")} | 1 to ${mostChannels} | ${recognizedBy} |`,
  );
  const spaced = (value: number): string => value.toLocaleString("en-US").replaceAll(",", "\u202f");
  return `# Audio formats

<!-- Written by scripts/render-audio-formats.ts; do not edit. -->

Both tables are generated from the encoders and decoders in \`packages/server/src/audio/\`, and a test reads a file of each format.

## Formats of speech

\`response_format\` of speech synthesis. All formats are mono.
Each takes every \`sample_rate\`: ${audioSampleRates.join(", ")} Hz. The bitrates are in the order of these rates.

| format | media type | contents | kbit/s |
| --- | --- | --- | --- |
${returned.join("\n")}

- A streamed WAV has 0xFFFFFFFF as its sizes, because its length is not known at the start. Players read it to the end.
- MP3 adds silence at both ends. A batch file states how much, and players remove exactly that. A streamed file states only the
  silence at the start; up to 72 ms (24 ms at 24 kHz and above) remain at the end. \`mpg123\` does not trim streamed files.
- Ogg Opus always decodes at 48 000 Hz. Its header contains the requested rate. Speech at 22050 and 44100 Hz is resampled.
- Word times count from the first audible sample.

## Formats of recordings

Transcription reads these files, at any rate from ${spaced(readableRates.lowest)} to ${spaced(readableRates.highest)} Hz. Channels are mixed to mono.

| file | encodings | channels | recognized by |
| --- | --- | --- | --- |
${readable.join("\n")}

- Sizes in a WAV header may be missing. A truncated file is read up to its end.
- The silence that a player would remove from the ends of an MP3 may remain.
- MP4 and M4A files with AAC or Apple Lossless, and AAC files without a container (ADTS), are read if ffmpeg is installed on the server
  (\`transcription.ffmpeg\`). Their index may be at the end. They are decoded once their upload is complete.
- An MP4 file with Opus must have its index at the front.
- The media type of raw samples may have the parameters \`rate\` and \`channels\`, as in \`audio/pcm; rate=8000; channels=2\`; the default
  is 16 000 Hz mono. Samples are little-endian. \`audio/L16\` may be big-endian, as its RFC requires: Sounding detects the byte
  order from the samples.

Sounding decodes all but WAV and raw samples in worker threads
([transcription](../transcription/README.md#decoders-and-hostile-files)).

Other formats are refused with 415 \`unsupported_media_type\`. The error names the format if Sounding recognizes it:

- files: ${refusedFormats.files.join(", ")};
- encodings in WAV: ${refusedFormats.wavEncodings.join(", ")};
- other codecs than Opus in WebM and Matroska, and than Opus, AAC and Apple Lossless in MP4;
- AAC and Apple Lossless if ffmpeg is not installed.

Convert such a file first:

\`\`\`sh
ffmpeg -i talk.wma talk.wav
\`\`\`
`;
}
