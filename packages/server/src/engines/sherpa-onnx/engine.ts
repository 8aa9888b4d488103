/**
 * Implements the engine `sherpa_onnx`: ONNX models that synthesize or transcribe speech, each in its own processes.
 * docs/adr/0014-local-speech-engines.md
 */
import type { SherpaOnnxEngineSettings, SherpaOnnxModelSettings } from "../../config/engines/sherpa-onnx.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Engine, SpeechModel, TranscriptionModel } from "../engine.ts";
import { noSuchModel } from "../no-such-model.ts";
import { ConcurrencyLimit } from "../concurrency-limit.ts";
import { languagesOf, whisperLanguage } from "./languages.ts";
import { givesWordTimes, loadSettings } from "./library-settings.ts";
import { modelKinds } from "../../model-files/model-kinds.ts";
import { ProcessPool } from "./process-pool.ts";
import { resolveModel } from "./resolve-model.ts";
import { createSpeechModel } from "./speech-model.ts";
import { createStreamModel } from "./stream-model.ts";
import { createVadSegmentModel } from "./vad-segment-model.ts";
import { voicesOf } from "./voices.ts";

export interface SherpaOnnxParts {
  readonly logger: Logger;
  /** Model folders are in its folder `models`. */
  readonly dataDirectory: string;
}

/** For voices whose file does not contain it; used only for silence. */
const usualVoiceRate = 22_050;

interface RunnableModel {
  readonly id: string;
  readonly createdUnixMs: number;
  readonly pool: ProcessPool;
  readonly speech?: SpeechModel;
  readonly transcription?: TranscriptionModel;
}

/**
 * An engine of type `sherpa_onnx`. Loads nothing until it is called, except models with `preload`.
 * @throws AppError upstream_failed that names the files that are missing
 */
export async function createSherpaOnnxEngine(
  name: string,
  settings: SherpaOnnxEngineSettings,
  parts: SherpaOnnxParts,
): Promise<Engine> {
  const models = new Map<string, RunnableModel>();
  for (const [id, model] of Object.entries(settings.models)) models.set(id, await makeRunnable(id, model, parts));
  for (const [id, model] of Object.entries(settings.models)) if (model.preload === true) models.get(id)?.pool.preload();
  const find = (id: string): RunnableModel => {
    const model = models.get(id);
    if (model !== undefined) return model;
    throw noSuchModel(name, id, models.keys());
  };
  return {
    name,
    speech: (id) => find(id).speech,
    transcription: (id) => find(id).transcription,
    listModels: async () =>
      [...models.values()].map(({ id, createdUnixMs }) => ({
        id,
        created: Math.floor(createdUnixMs / 1000),
        ownedBy: name,
      })),
    isLoaded: (id) => models.get(id)?.pool.isLoaded === true,
    async close() {
      await Promise.all([...models.values()].map(({ pool }) => pool.close()));
    },
  };
}

async function makeRunnable(
  id: string,
  settings: SherpaOnnxModelSettings,
  { logger, dataDirectory }: SherpaOnnxParts,
): Promise<RunnableModel> {
  const resolved = await resolveModel(id, settings, dataDirectory);
  const processes = settings.processes ?? 1;
  const pool = new ProcessPool({
    name: id,
    settings: loadSettings(settings, resolved),
    processes,
    startTimeoutMs: settings.start_timeout_ms ?? 120_000,
    idleUnloadMs: settings.idle_unload_ms,
    logger,
  });
  const slots = new ConcurrencyLimit(`The model ${JSON.stringify(id)}`, processes + (settings.queue_limit ?? 64));
  const { metadata, createdUnixMs } = resolved;
  const fail = (problem: string): never => {
    throw new AppError("upstream_failed", `The model ${JSON.stringify(id)} cannot be used: ${problem}.`);
  };
  const { kind } = settings;
  const model = { id, createdUnixMs, pool };
  const { task } = modelKinds[kind];
  if (task === "speech") {
    if (settings.speakers !== undefined) fail("`speakers` is only for models that transcribe");
    const sampleRate = Number(metadata.get("sample_rate") ?? usualVoiceRate);
    return {
      ...model,
      speech: createSpeechModel({ pool, slots, voices: voicesOf(id, settings, metadata), sampleRate }),
    };
  }
  if (settings.voices !== undefined) {
    fail(`a ${kind} model has no voices`);
  }
  const common = {
    pool,
    slots,
    languages: languagesOf(settings, metadata),
    speakerThreshold: settings.speakers?.threshold,
  };
  if (task === "streams") return { ...model, transcription: createStreamModel(common) };
  const givesWords = givesWordTimes(kind, metadata);
  const nameOf = (primary: string) => (kind === "whisper" ? whisperLanguage(primary, metadata) : primary);
  return { ...model, transcription: createVadSegmentModel({ ...common, processes, givesWords, nameOf }) };
}
