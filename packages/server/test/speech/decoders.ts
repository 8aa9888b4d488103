/** Independent decoders to check our audio. */
import { spawnSync } from "node:child_process";

/** The audio as 16-bit samples at the rate in its file, decoded by ffmpeg. */
export function decode(audio: Uint8Array, sampleRate: number): Int16Array {
  const run = spawnSync(
    "ffmpeg",
    ["-v", "error", "-i", "pipe:0", "-f", "s16le", "-ac", "1", "-ar", String(sampleRate), "pipe:1"],
    { input: audio, maxBuffer: 1 << 28 },
  );
  if (run.status !== 0) throw new Error(`ffmpeg: ${run.stderr.toString()}`);
  if (run.stderr.length > 0) throw new Error(`ffmpeg complains: ${run.stderr.toString()}`);
  return new Int16Array(run.stdout.buffer.slice(run.stdout.byteOffset, run.stdout.byteOffset + run.stdout.length));
}

/** What ffprobe reports about the file's stream. */
export function probe(audio: Uint8Array): { codec_name: string; sample_rate: string; channels: number } {
  const run = spawnSync("ffprobe", ["-v", "error", "-print_format", "json", "-show_streams", "-i", "pipe:0"], {
    input: audio,
    encoding: "utf8",
  });
  const { streams } = JSON.parse(run.stdout) as { streams: ReturnType<typeof probe>[] };
  return streams[0]!;
}
