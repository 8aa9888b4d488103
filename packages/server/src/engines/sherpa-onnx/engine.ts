/**
 * Implements the engine `sherpa_onnx`: ONNX models that synthesize or transcribe speech, each in its own processes.
 * docs/adr/0013-speech.md
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
import { createModelPool, type ModelPool } from "./model-pool.ts";
import { filesOf, resolveModel, withPhonemeData } from "./resolve-model.ts";
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
  /** Undefined for a model that cannot be used. */
  readonly pool: ModelPool | undefined;
  /** Why it cannot be used; while it runs, its pool may know another reason. */
  readonly problem?: AppError;
  readonly speech?: SpeechModel;
  readonly transcription?: TranscriptionModel;
}

/**
 * An engine of type `sherpa_onnx`. Loads nothing until it is called, except models with `preload`. A model that cannot be used,
 * such as one with a missing file, is logged, and its calls fail; the others are served.
 */
export async function createSherpaOnnxEngine(
  name: string,
  settings: SherpaOnnxEngineSettings,
  parts: SherpaOnnxParts,
): Promise<Engine> {
  const models = new Map<string, RunnableModel>();
  const looking = new Map<string, Promise<RunnableModel>>();
  let isClosed = false;
  const look = async (id: string): Promise<RunnableModel> => {
    try {
      const model = await makeRunnable(id, settings.models[id]!, parts);
      if (isClosed) await model.pool?.close();
      else models.set(id, model);
      return model;
    } catch (problem) {
      if (problem instanceof AppError && models.get(id)?.problem?.message !== problem.message) {
        parts.logger.error({ model: id, error: problem }, "a model cannot be used");
        models.set(id, unusableModel(id, settings.models[id]!, { problem, lookAgain: () => lookAgain(id) }));
      }
      throw problem;
    }
  };
  const lookAgain = (id: string): Promise<RunnableModel> => {
    const model = models.get(id);
    if (model !== undefined && model.problem === undefined) return Promise.resolve(model);
    const underway = looking.get(id) ?? look(id).finally(() => looking.delete(id));
    looking.set(id, underway);
    return underway;
  };
  for (const id of Object.keys(settings.models)) {
    await look(id).catch((problem: unknown) => {
      if (!(problem instanceof AppError)) throw problem;
    });
  }
  for (const [id, model] of Object.entries(settings.models))
    if (model.preload === true) models.get(id)?.pool?.preload();
  const find = (id: string): RunnableModel => {
    const model = models.get(id);
    if (model !== undefined) return model;
    throw noSuchModel(name, id, models.keys());
  };
  return {
    name,
    speech: (id) => find(id).speech,
    transcription: (id) => find(id).transcription,
    async listModels() {
      await Promise.allSettled([...models.keys()].map(lookAgain));
      return [...models.values()].map(({ id, createdUnixMs }) => ({
        id,
        created: Math.floor(createdUnixMs / 1000),
        ownedBy: name,
      }));
    },
    isLoaded: (id) => models.get(id)?.pool?.isLoaded === true,
    problemOf: (id) => models.get(id)?.problem ?? models.get(id)?.pool?.problem,
    async close() {
      isClosed = true;
      await Promise.all([...models.values()].flatMap(({ pool }) => (pool === undefined ? [] : [pool.close()])));
    },
  };
}

/** A model that cannot be used. Its calls look again: its files may have been pulled in the meantime. */
function unusableModel(
  id: string,
  { kind }: SherpaOnnxModelSettings,
  { problem, lookAgain }: { readonly problem: AppError; lookAgain(): Promise<RunnableModel> },
): RunnableModel {
  const model = { id, createdUnixMs: 0, pool: undefined, problem };
  if (modelKinds[kind].task !== "speech") {
    const transcribe: TranscriptionModel["transcribe"] = async function* (call) {
      yield* (await lookAgain()).transcription!.transcribe(call);
    };
    return { ...model, transcription: { givesWords: true, transcribe } };
  }
  const speech: SpeechModel = {
    givesMarks: true,
    voices: async (signal) => (await lookAgain()).speech!.voices(signal),
    async *speak(call) {
      yield* (await lookAgain()).speech!.speak(call);
    },
  };
  return { ...model, speech };
}

async function makeRunnable(
  id: string,
  settings: SherpaOnnxModelSettings,
  { logger, dataDirectory }: SherpaOnnxParts,
): Promise<RunnableModel> {
  const resolved = await withPhonemeData(await resolveModel(id, settings, dataDirectory), settings, dataDirectory);
  const processes = settings.processes ?? 1;
  const pool = createModelPool({
    name: id,
    settings: loadSettings(settings, resolved),
    files: filesOf(resolved),
    processes,
    startTimeoutMs: settings.start_timeout_ms ?? 120_000,
    idleUnloadMs: settings.idle_unload_ms,
    logger,
  });
  const slots = new ConcurrencyLimit(`The model ${JSON.stringify(id)}`, processes + (settings.queue_limit ?? 64));
  const { metadata, createdUnixMs } = resolved;
  const fail = (problem: string): never => {
    throw new AppError("upstream_failed", `The model ${JSON.stringify(id)} cannot be used: ${problem}.`, {
      lasting: true,
    });
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
  const needsContext = kind === "whisper";
  return { ...model, transcription: createVadSegmentModel({ ...common, processes, givesWords, needsContext, nameOf }) };
}
