/**
 * Implements the engine `pocketsphinx`: English transcription with Debian's PocketSphinx, in separate processes.
 * docs/adr/0017-transcription.md
 */
import { availableParallelism } from "node:os";
import type { PocketSphinxEngineSettings } from "../../config/engines/pocketsphinx.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Engine, TranscriptionCall, TranscriptionModel } from "../engine.ts";
import { noSuchModel } from "../no-such-model.ts";
import { ConcurrencyLimit } from "../concurrency-limit.ts";
import { findInstallation, type Installation } from "./installation.ts";
import { RecognizerPool } from "./recognizer-pool.ts";
import { transcribe } from "./transcribe.ts";

const modelId = "pocketsphinx";

interface PocketSphinxParts {
  readonly logger: Logger;
  /** May have an unpacked copy of PocketSphinx. */
  readonly dataDirectory?: string | undefined;
}

export function createPocketSphinxEngine(
  name: string,
  settings: PocketSphinxEngineSettings,
  { logger, dataDirectory }: PocketSphinxParts,
): Engine {
  const processes = settings.processes ?? Math.min(availableParallelism(), 4);
  const places = { library: settings.library, modelDirectory: settings.model_dir, dataDirectory };
  let found: Installation | undefined;
  // Checked until found: it may be installed while the server runs.
  const installation = (): Installation => (found ??= findInstallation(places));
  const pool = new RecognizerPool({ processes, idleUnloadMs: settings.idle_unload_ms, installation, logger });
  const slots = new ConcurrencyLimit(`The engine ${JSON.stringify(name)}`, processes + settings.queue_limit);
  if (settings.preload) pool.preload();
  const model: TranscriptionModel = {
    givesWords: true,
    async *transcribe(call) {
      refuseLanguage(call);
      installation();
      using _slot = slots.take(call.fairnessKey);
      yield* transcribe(call, { pool, processes });
    },
  };
  return {
    name,
    transcription(id) {
      if (id === modelId) return model;
      throw noSuchModel(name, id, [modelId]);
    },
    async listModels() {
      installation();
      return [{ id: modelId, created: 0, ownedBy: name }];
    },
    isLoaded: () => pool.isLoaded,
    close: () => pool.close(),
  };
}

/** @throws AppError invalid_request */
function refuseLanguage({ language }: TranscriptionCall): void {
  if (language === undefined || /^en(?:-|$)/i.test(language)) return;
  throw new AppError(
    "invalid_request",
    `language is ${JSON.stringify(language)}, but the model ${JSON.stringify(modelId)} understands only English, such as "en-US".`,
    { param: "language" },
  );
}
