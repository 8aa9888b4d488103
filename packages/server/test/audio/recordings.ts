/** Small valid recordings in every supported container and codec, written by encoders. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import {
  BufferSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  Input,
  MkvOutputFormat,
  Mp4OutputFormat,
  OGG,
  Output,
  WebMOutputFormat,
  type OutputFormat,
} from "mediabunny";
import { createEncoder as createWasmEncoder } from "wasm-media-encoders";
import { createEncoder } from "../../src/audio/create-encoder.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { sine } from "./signals.ts";
import { chunk, formatChunk, riff } from "./wav-files.ts";
import { flacFile } from "./flac-file.ts";

export interface AudioFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const rate = 16_000;
const sound = sine(440, rate, 0.25);
const integers = Int16Array.from(sound, (sample) => sample * 32_767);

/** Created once. */
let files: Promise<readonly AudioFile[]> | undefined;

export function audioFiles(): Promise<readonly AudioFile[]> {
  files ??= make();
  return files;
}

async function make(): Promise<AudioFile[]> {
  const opus = await encoded("opus");
  return [
    ...wavFiles(),
    { name: "a.mp3", type: "audio/mpeg", bytes: await encoded("mp3") },
    { name: "a.opus", type: "audio/ogg", bytes: opus },
    { name: "a.ogg", type: "audio/ogg", bytes: await vorbis() },
    { name: "a.flac", type: "audio/flac", bytes: flacFile(8, integers) },
    { name: "constant.flac", type: "audio/flac", bytes: flacFile(3, undefined, { channels: 2, blockSize: 4096 }) },
    { name: "a.webm", type: "audio/webm", bytes: await remuxed(opus, new WebMOutputFormat()) },
    { name: "a.mkv", type: "audio/x-matroska", bytes: await remuxed(opus, new MkvOutputFormat()) },
    { name: "a.mp4", type: "audio/mp4", bytes: await remuxed(opus, new Mp4OutputFormat({ fastStart: "in-memory" })) },
    {
      name: "fragmented.mp4",
      type: "audio/mp4",
      bytes: await remuxed(opus, new Mp4OutputFormat({ fastStart: "fragmented" })),
    },
    { name: "a.pcm", type: "audio/pcm; rate=16000", bytes: Buffer.from(integers.buffer) },
    { name: "a.raw", type: "audio/L16; rate=8000; channels=2", bytes: Buffer.from(integers.buffer) },
  ];
}

function wavFiles(): AudioFile[] {
  const kinds = [
    { name: "8bit", tag: 1, bits: 8 },
    { name: "24bit", tag: 1, bits: 24, extensible: true },
    { name: "32bit", tag: 1, bits: 32, channels: 2 },
    { name: "float", tag: 3, bits: 32 },
    { name: "double", tag: 3, bits: 64, extensible: true },
    { name: "alaw", tag: 6, bits: 8 },
    { name: "mulaw", tag: 7, bits: 8 },
  ];
  const data = Buffer.from(integers.buffer, 0, 4096);
  return [
    { name: "a.wav", type: "audio/wav", bytes: Buffer.from(encodeWav(sound, rate)) },
    ...kinds.map(({ name, ...format }) => ({
      name: `${name}.wav`,
      type: "audio/wav",
      bytes: riff([formatChunk(format), chunk("LIST", Buffer.alloc(9, 0x41)), chunk("data", data)]),
    })),
  ];
}

async function encoded(format: "mp3" | "opus"): Promise<Buffer> {
  const encoder = await createEncoder({ format, sampleRate: rate, stream: false });
  return Buffer.concat([encoder.push(sound), encoder.end()]);
}

async function vorbis(): Promise<Buffer> {
  const module = await readFile(fileURLToPath(import.meta.resolve("wasm-media-encoders/wasm/ogg")));
  const encoder = await createWasmEncoder("audio/ogg", `data:application/wasm;base64,${module.toString("base64")}`);
  encoder.configure({ sampleRate: rate, channels: 1, vbrQuality: 0 });
  const pieces = [Buffer.from(encoder.encode([sound])), Buffer.from(encoder.finalize())];
  return Buffer.concat(pieces);
}

async function remuxed(ogg: Buffer, format: OutputFormat): Promise<Buffer> {
  const input = new Input({ formats: [OGG], source: new BufferSource(new Uint8Array(ogg)) });
  const track = (await input.getPrimaryAudioTrack())!;
  const decoderConfig = (await track.getDecoderConfig())!;
  const target = new BufferTarget();
  const output = new Output({ format, target });
  const source = new EncodedAudioPacketSource("opus");
  output.addAudioTrack(source);
  await output.start();
  for await (const packet of new EncodedPacketSink(track).packets()) await source.add(packet, { decoderConfig });
  await output.finalize();
  return Buffer.from(target.buffer!);
}
