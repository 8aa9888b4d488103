/** Implements the engine `llama_cpp`: local GGUF files, each in its own process. docs/adr/0011-llama-cpp.md */
import { stat } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import type { LlamaCppEngineSettings, LlamaCppModelSettings } from "../../config/engines/llama-cpp.ts";
import type { Logger } from "../../logger.ts";
import { findModelFile } from "../../model-files/find-model-file.ts";
import { describeGguf } from "../../model-files/gguf-file.ts";
import { purposeOf } from "../../model-files/gguf-purpose.ts";
import type { ChatCall, ChatModel, Engine, ModelDescription } from "../engine.ts";
import { noSuchModel } from "../no-such-model.ts";
import { createAnswerHead, toChunks, toCompletion } from "./chat-answer.ts";
import { createEmbeddingModel } from "./embedding-model.ts";
import { requireBounded } from "./generation-limits.ts";
import { toGeneration } from "./generation-request.ts";
import { overlongPrompt, promptLimit } from "./prompt-limit.ts";
import {
  defaultContextSize,
  type EmbeddingSettings,
  type Generation,
  type LoadSettings,
  type ModelPurpose,
} from "./protocol.ts";
import { superviseModel, type SupervisedModel } from "./supervised-model.ts";
import { createTextModel } from "./text-model.ts";
import { ensureTrialModel, trialModelId } from "./trial/trial-model.ts";

export interface LlamaCppParts {
  readonly logger: Logger;
  /** Model files are in its folder `models`. */
  readonly dataDirectory: string;
}

/** The settings of an engine without configured models: only the trial model. */
export const trialEngineSettings: LlamaCppEngineSettings = {
  type: "llama_cpp",
  models: {
    [trialModelId]: { file: trialModelId, gpu: false, threads: 1, context_size: 16_384, idle_unload_ms: 600_000 },
  },
};

/** Threads that do not take a core from others: more threads than free cores make llama.cpp many times slower. */
function threadsFor(settings: LlamaCppModelSettings): number {
  const cores = availableParallelism();
  const free = Math.max(1, cores - Math.round(loadavg()[0] ?? 0));
  return Math.min(settings.threads ?? free, cores);
}

async function modelPath({ file }: LlamaCppModelSettings, modelsDirectory: string): Promise<string> {
  if (file === trialModelId) return ensureTrialModel(modelsDirectory);
  return findModelFile(file, modelsDirectory);
}

async function loadSettings(settings: LlamaCppModelSettings, modelsDirectory: string): Promise<LoadSettings> {
  return {
    path: await modelPath(settings, modelsDirectory),
    contextSize: settings.context_size,
    sequences: settings.parallel ?? 4,
    threads: threadsFor(settings),
    gpu: settings.gpu ?? "auto",
    gpuLayers: settings.gpu_layers,
    chatTemplate: settings.chat_template,
    embeddings: embeddingSettings(settings),
  };
}

function embeddingSettings({ embeddings }: LlamaCppModelSettings): EmbeddingSettings | undefined {
  if (embeddings === undefined) return undefined;
  const { pooling, normalize = true, min_dimensions: minimumDimensions } = embeddings;
  return { pooling, normalize, minimumDimensions };
}

/** Undefined while there is no file that can be read, such as one that is pulled later. */
async function findPurpose(
  settings: LlamaCppModelSettings,
  modelsDirectory: string,
): Promise<ModelPurpose | undefined> {
  if (settings.embeddings !== undefined) return "embeddings";
  if (settings.file === trialModelId) return "chat";
  try {
    const purpose = purposeOf(await describeGguf(await findModelFile(settings.file, modelsDirectory)));
    return purpose === "chat" ? "chat" : "embeddings";
  } catch {
    // The first call says what is wrong with it.
    return undefined;
  }
}

/** @param contextSize most tokens that a call may have */
function chatModel(name: string, model: SupervisedModel, contextSize: number): ChatModel {
  const generationOf = ({ request, fairnessKey = "" }: ChatCall): Generation => {
    requireBounded(request, contextSize);
    if (request.messages.length >= contextSize)
      throw overlongPrompt(request.messages.length, promptLimit(contextSize, 1));
    return toGeneration(request, fairnessKey);
  };
  return {
    completions: createTextModel(name, model, contextSize),
    async complete(call) {
      const generation = generationOf(call);
      return toCompletion(model.generate(generation, call.signal), createAnswerHead(name), generation);
    },
    async *stream(call) {
      const generation = generationOf(call);
      yield* toChunks(model.generate(generation, call.signal), createAnswerHead(name), generation);
    },
  };
}

async function describe(id: string, owner: string, path: Promise<string>): Promise<ModelDescription> {
  const created = await path.then(stat).then(
    ({ mtime }) => Math.floor(mtime.getTime() / 1000),
    () => 0,
  );
  return { id, created, ownedBy: owner };
}

interface ServedModel {
  readonly settings: LlamaCppModelSettings;
  readonly supervised: SupervisedModel;
  /** Undefined: not known yet. Then the model may be called for both, and its process decides. */
  purpose: ModelPurpose | undefined;
}

/** An engine of type `llama_cpp`. Starts nothing until it is called, except models with `preload`. */
export async function createLlamaCppEngine(
  name: string,
  settings: LlamaCppEngineSettings,
  parts: LlamaCppParts,
): Promise<Engine> {
  const modelsDirectory = join(parts.dataDirectory, "models");
  const models = new Map<string, ServedModel>();
  for (const [id, model] of Object.entries(settings.models)) {
    const supervised = superviseModel({
      name: id,
      settings: () => loadSettings(model, modelsDirectory),
      sequences: model.parallel ?? 4,
      queueLimit: model.queue_limit ?? 64,
      startTimeoutMs: model.start_timeout_ms ?? 120_000,
      idleUnloadMs: model.idle_unload_ms,
      logger: parts.logger,
    });
    models.set(id, { settings: model, supervised, purpose: await findPurpose(model, modelsDirectory) });
    if (model.preload === true) supervised.preload();
  }
  const find = (id: string): ServedModel => {
    const model = models.get(id);
    if (model !== undefined) return model;
    throw noSuchModel(name, id, models.keys());
  };
  return {
    name,
    chat(id) {
      const { purpose, supervised, settings: model } = find(id);
      if (purpose === "embeddings") return undefined;
      return chatModel(id, supervised, model.context_size ?? defaultContextSize);
    },
    embeddings(id) {
      const { purpose, supervised } = find(id);
      return purpose === "chat" ? undefined : createEmbeddingModel(supervised);
    },
    listedFor: (id) => [find(id).purpose ?? "chat"],
    listModels: () =>
      Promise.all(
        [...models].map(async ([id, model]) => {
          model.purpose ??= await findPurpose(model.settings, modelsDirectory);
          return describe(id, name, modelPath(model.settings, modelsDirectory));
        }),
      ),
    isLoaded: (id) => models.get(id)?.supervised.isLoaded === true,
    problemOf: (id) => models.get(id)?.supervised.problem,
    async close() {
      await Promise.all([...models.values()].map(({ supervised }) => supervised.close()));
    },
  };
}
