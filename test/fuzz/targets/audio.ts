/** Recordings in every container and codec, damaged: uploaded, and directly to the reader. */
import { DecoderPool } from "../../../packages/server/src/audio/decoder-pool.ts";
import { readAudio } from "../../../packages/server/src/audio/read-audio.ts";
import { AppError } from "../../../packages/server/src/errors.ts";
import { silentLogger } from "../../../packages/server/src/logger.ts";
import { audioFiles, type AudioFile } from "../../../packages/server/test/audio/recordings.ts";
import { flacFile } from "../../../packages/server/test/audio/flac-file.ts";
import { hostileString } from "../hostile-values.ts";
import { requestHeaders, writeMessage } from "../http-message.ts";
import { mutateBytes } from "../mutate-bytes.ts";
import type { Random } from "../random.ts";
import type { DirectTarget, ServedTarget } from "../target.ts";

const decoders = new DecoderPool({ workers: 2, logger: silentLogger });
let files: readonly AudioFile[] = [];
const prepare = async (): Promise<void> => {
  files = await audioFiles();
};

/** A recording, mostly damaged; sometimes one that claims or expands to more than it is. */
function recording(random: Random): AudioFile {
  const file = random.pick(files);
  if (random.chance(0.05)) return file;
  if (random.chance(0.01)) {
    const bytes = flacFile(random.size(200), undefined, {
      channels: random.between(1, 8),
      declaredSamples: random.pick([0n, 1n, 2n ** 36n - 1n]),
    });
    return { name: "bomb.flac", type: "audio/flac", bytes };
  }
  if (random.chance(0.03))
    return { ...file, bytes: Buffer.concat([file.bytes, mutateBytes(random.pick(files).bytes, random)]) };
  return { ...file, bytes: mutateBytes(file.bytes, random) };
}

export const audioTarget: DirectTarget = {
  kind: "direct",
  name: "audio",
  perSecond: 80,
  share: 4,
  prepare,
  // The name of the seed, a line end, the bytes: raw samples are identified only by their name.
  generate(random) {
    const { name, bytes } = recording(random);
    return Buffer.concat([Buffer.from(`${name}\n`), bytes]);
  },
  async run(input) {
    const whole = Buffer.from(input);
    const lineEnd = whole.indexOf("\n");
    const fileName = whole.toString("latin1", 0, lineEnd);
    const bytes = whole.subarray(lineEnd + 1);
    const source = async function* (): AsyncGenerator<Uint8Array, void> {
      for (let at = 0; at < bytes.length; at += 1000) yield bytes.slice(at, at + 1000);
    };
    try {
      const audio = await readAudio(source, { fileName, limits: { maxSeconds: 600 }, decoders });
      let count = 0;
      for await (const piece of audio.open(16_000)) count += piece.length;
      return count === 0 ? "silent" : "read";
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return String(error.status);
      throw error;
    }
  },
};

export const uploadsTarget: ServedTarget = {
  kind: "served",
  name: "audio-uploads",
  perSecond: 40,
  transport: "http1",
  prepare,
  generate(random) {
    const { name, type, bytes } = recording(random);
    const boundary = "fuzz-boundary";
    const fields: [string, string][] = [
      ["model", random.chance(0.97) ? "scripted-transcription" : hostileString(random, 100)],
    ];
    if (random.chance(0.3))
      fields.push([
        "response_format",
        random.pick(["json", "text", "srt", "vtt", "verbose_json", "diarized_json", hostileString(random, 50)]),
      ]);
    if (random.chance(0.2)) fields.push(["stream", random.pick(["true", "false", "1"])]);
    if (random.chance(0.1))
      fields.push([
        random.pick([
          "language",
          "prompt",
          "temperature",
          "timestamp_granularities[]",
          "include[]",
          "chunking_strategy",
          "timeout",
        ]),
        hostileString(random, 200),
      ]);
    const parts = fields.map(([field, value]) =>
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`),
    );
    const file = Buffer.concat([
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`,
      ),
      bytes,
      Buffer.from("\r\n"),
    ]);
    const ordered = random.chance(0.8) ? [...parts, file] : [file, ...parts];
    const body = Buffer.concat([...ordered, Buffer.from(`--${boundary}--\r\n`)]);
    const headers = requestHeaders(random, `multipart/form-data; boundary=${boundary}`);
    return writeMessage({ method: "POST", path: "/v1/audio/transcriptions", headers, body });
  },
  serverErrors: [502, 504],
};
