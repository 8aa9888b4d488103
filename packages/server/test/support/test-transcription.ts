/** The transcription operation on a real HTTP server, with a test's models. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Value } from "typebox/value";
import { catalogRoutes } from "../../src/catalog/routes.ts";
import type { LimitSettings } from "../../src/config/limits.ts";
import { routing } from "../../src/config/models.ts";
import type { HttpSettings } from "../../src/http/server.ts";
import { createLimiter } from "../../src/limits/limiter.ts";
import { MonthlyUsage } from "../../src/limits/monthly-usage.ts";
import { DecoderPool } from "../../src/audio/decoder-pool.ts";
import { FfmpegDecoder } from "../../src/audio/ffmpeg-decoder.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import { silentLogger } from "../../src/logger.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { createRegistry } from "../../src/routing/registry.ts";
import type { FinishedTranscription } from "../../src/finished-call.ts";
import { transcriptionRoutes } from "../../src/transcription/routes.ts";
import type { DefaultTimeout } from "../../src/transcription/time-limit.ts";
import { createTranscribe } from "../../src/transcription/transcribe.ts";
import { sine } from "../audio/signals.ts";
import { startTestHttp, testSecret } from "./test-http.ts";
import { testCosts } from "./test-costs.ts";

interface TestTranscriptionOptions {
  readonly engines: readonly Engine[];
  readonly limits?: LimitSettings["key"];
  readonly settings?: Partial<HttpSettings>;
  readonly maxFileBytes?: number;
  readonly maxAudioSeconds?: number;
  readonly sentences?: boolean;
  readonly silenceText?: "";
  readonly textFormats?: boolean;
  readonly ffmpeg?: string;
  readonly defaultTimeout?: DefaultTimeout;
  readonly decoderWorkers?: number;
}

export async function startTestTranscription(options: TestTranscriptionOptions) {
  const finished: FinishedTranscription[] = [];
  const refused: FinishedTranscription[] = [];
  const directory = await mkdtemp(join(tmpdir(), "sounding-uploads-"));
  const usage = await MonthlyUsage.open({
    ledger: { add: async () => {}, read: async () => [] },
    logger: silentLogger,
  });
  const limiter = createLimiter({ defaults: { key: options.limits ?? {}, organization: {} }, usage });
  const engines = new Map(options.engines.map((engine) => [engine.name, engine]));
  const registry = await createRegistry({
    config: {
      engines: Object.fromEntries(
        [...engines.keys()].map((name) => [name, { type: "flite", preload: false, queue_limit: 1 }]),
      ),
      implicitEngines: {},
      models: {},
      aliases: { "whisper-1": options.engines[0]!.name },
      routing: Value.Parse(routing, Value.Default(routing, {})),
      discovery: { enabled: true, refresh_interval_ms: 600_000 },
      speech: { voices: {} },
    },
    createEngine: async (name) => engines.get(name)!,
    logger: silentLogger,
  });
  const decoders = new DecoderPool({ workers: options.decoderWorkers ?? 4, logger: silentLogger });
  const transcribe = createTranscribe({
    resolveModel: (scope, id) => registry.transcription(id, scope.key),
    limiter,
    decoders,
    costs: testCosts(),
    maxAudioSeconds: () => options.maxAudioSeconds ?? 14_400,
    defaultTimeout: () => options.defaultTimeout ?? { timeout_seconds: 60, timeout_per_audio_second: 3 },
    ffmpeg: new FfmpegDecoder({
      program: options.ffmpeg ?? "ffmpeg",
      searchPath: process.env["PATH"],
      directory,
    }),
    allowsTextFormats: () => options.textFormats ?? false,
    formatsSentences: () => options.sentences ?? false,
    silenceText: () => options.silenceText ?? null,
    observe: (call) => (call.refused ? refused : finished).push(call),
  });
  const form = { maxFileBytes: options.maxFileBytes ?? 268_435_456, directory };
  const server = await startTestHttp({
    routes: [...transcriptionRoutes(transcribe, form), ...catalogRoutes(registry)],
    settings: options.settings ?? {},
  });
  const headers = { authorization: `Bearer ${testSecret}` };
  return {
    ...server,
    finishedTranscriptions: finished,
    refusedTranscriptions: refused,
    /** Where uploads that are too large for memory are spooled. */
    directory,
    headers,
    get: (path: string) => fetch(`${server.url}${path}`, { headers }),
    post: (body: FormData, init: RequestInit = {}) =>
      fetch(`${server.url}/v1/audio/transcriptions`, { method: "POST", body, headers, ...init }),
    async [Symbol.asyncDispose]() {
      await server.close();
      await decoders.close();
      await registry.close();
      await usage.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A WAV file with a tone of this many seconds, 16-bit mono at 16 000 Hz. */
export function toneFile(seconds = 1): Blob {
  return new Blob([encodeWav(sine(440, 16_000, seconds), 16_000)], { type: "audio/wav" });
}

/** A form with its parts in this order; a blob is a file, called `audio.wav` unless it has a name. */
export function formOf(parts: Readonly<Record<string, string | Blob>> | readonly [string, string | Blob][]): FormData {
  const form = new FormData();
  for (const [name, value] of Array.isArray(parts) ? parts : Object.entries(parts)) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, value instanceof File ? value.name : "audio.wav");
  }
  return form;
}
