/**
 * Other software's decoders, where they are installed: ffmpeg, mpg123, sox, opusinfo. Their output is the reference, not
 * our own reader's.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** Runs a command with `bytes` in a file whose path replaces `{}`. Throws with its standard error if it fails. */
export function runOn(bytes: Uint8Array, extension: string, command: string): Buffer {
  const [program = "", ...args] = command.split(" ");
  const directory = mkdtempSync(path.join(tmpdir(), "sounding-audio-"));
  try {
    const file = path.join(directory, `sound.${extension}`);
    writeFileSync(file, bytes);
    const result = spawnSync(
      program,
      args.map((arg) => (arg === "{}" ? file : arg)),
      { maxBuffer: 256 * 1024 * 1024 },
    );
    if (result.error !== undefined) throw result.error;
    if (result.status !== 0) throw new Error(`${program}: ${result.stderr.toString()}`);
    return result.stdout;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Decodes to samples with ffmpeg, at the rate that it detects. */
export function ffmpegDecode(bytes: Uint8Array, extension: string): { sampleRate: number; samples: Float32Array } {
  const wave = runOn(bytes, extension, "ffmpeg -v error -i {} -f wav -c:a pcm_f32le -");
  const start = wave.indexOf("data", 12, "latin1") + 8;
  return { sampleRate: wave.readUInt32LE(24), samples: floatsOf(wave.subarray(start)) };
}

function floatsOf(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer, 0, Math.floor(bytes.length / 4));
}
