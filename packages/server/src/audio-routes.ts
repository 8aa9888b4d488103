/** Composes speech synthesis and transcription: models, limits, decoders, and their HTTP routes. */
import { availableParallelism } from "node:os";
import { DecoderPool } from "./audio/decoder-pool.ts";
import { FfmpegDecoder } from "./audio/ffmpeg-decoder.ts";
import type { Config } from "./config/config.ts";
import { programPath } from "./config/library-paths.ts";
import type { FinishedCall } from "./finished-call.ts";
import type { Route } from "./http/route.ts";
import { clearSpoolDirectory } from "./http/spool.ts";
import type { Limiter } from "./limits/limiter.ts";
import type { Logger } from "./logger.ts";
import type { CallCosts } from "./pricing/call-costs.ts";
import type { Registry } from "./routing/registry.ts";
import { createListVoices } from "./speech/list-voices.ts";
import { speechRoutes } from "./speech/routes.ts";
import { createSpeak } from "./speech/speak.ts";
import { transcriptionRoutes } from "./transcription/routes.ts";
import { createTranscribe } from "./transcription/transcribe.ts";

export interface AudioParts {
  readonly registry: Registry;
  readonly limiter: Limiter;
  /** The folder of this process's uploads. */
  readonly uploads: string;
  readonly logger: Logger;
  readonly costs: CallCosts;
  observe(call: FinishedCall): void;
  /** The current ones. */
  settings(): Pick<Config, "speech" | "transcription">;
}

export interface AudioRoutes {
  readonly routes: readonly Route[];
  close(): Promise<void>;
}

export async function createAudioRoutes(parts: AudioParts): Promise<AudioRoutes> {
  const { registry, limiter, uploads, costs, observe, settings, logger } = parts;
  await clearSpoolDirectory(uploads);
  const { decoder_workers: workers, ffmpeg, max_upload_bytes: maxFileBytes } = settings().transcription;
  const decoders = new DecoderPool({ workers: workers ?? Math.max(4, 2 * availableParallelism()), logger });
  const speak = createSpeak({
    resolveModel: (scope, modelId) => registry.speech(modelId, scope.key),
    limiter,
    costs,
    maxInputCharacters: () => settings().speech.max_input_characters,
    observe,
  });
  const listVoices = createListVoices({
    speakers: (scope) => registry.speakers(scope.key),
    speaker: (scope, id) => ({
      id,
      ownedBy: registry.describe(id, scope.key).ownedBy,
      speech: registry.speech(id, scope.key),
    }),
  });
  const transcribe = createTranscribe({
    resolveModel: (scope, modelId) => registry.transcription(modelId, scope.key),
    limiter,
    costs,
    decoders,
    ffmpeg: new FfmpegDecoder({ program: ffmpeg, searchPath: programPath(), directory: uploads }),
    maxAudioSeconds: () => settings().transcription.max_audio_seconds,
    defaultTimeout: () => settings().transcription,
    allowsTextFormats: () => settings().transcription.text_formats,
    formatsSentences: () => settings().transcription.sentences,
    silenceText: () => (settings().transcription.silence_text === "null" ? null : ""),
    observe,
  });
  return {
    routes: [
      ...speechRoutes(speak, listVoices),
      ...transcriptionRoutes(transcribe, { maxFileBytes, directory: uploads }),
    ],
    close: () => decoders.close(),
  };
}
