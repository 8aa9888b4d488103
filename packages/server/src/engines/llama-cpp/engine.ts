/** Implements the engine `llama_cpp`: local GGUF files, each in its own process. docs/adr/0011-llama-cpp.md */
import { stat } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import type { LlamaCppEngineSettings, LlamaCppModelSettings } from "../../config/engines/llama-cpp.ts";
import type { Logger } from "../../logger.ts";
import { findModelFile } from "../../model-files/find-model-file.ts";
import type { ChatCall, ChatModel, Engine, ModelDescription } from "../engine.ts";
import { noSuchModel } from "../no-such-model.ts";
import { createAnswerHead, toChunks, toCompletion } from "./chat-answer.ts";
import { requireBounded } from "./generation-limits.ts";
import { toGeneration } from "./generation-request.ts";
import { overlongPrompt, promptLimit } from "./prompt-limit.ts";
import { defaultContextSize, type Generation, type LoadSettings } from "./protocol.ts";
import { superviseModel, type SupervisedModel } from "./supervised-model.ts";
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
  };
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

/** An engine of type `llama_cpp`. Starts nothing until it is called, except models with `preload`. */
export function createLlamaCppEngine(name: string, settings: LlamaCppEngineSettings, parts: LlamaCppParts): Engine {
  const modelsDirectory = join(parts.dataDirectory, "models");
  const models = new Map<string, SupervisedModel>();
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
    models.set(id, supervised);
    // A failure is logged where it happens and reported to the first caller.
    if (model.preload === true) supervised.preload().catch(() => {});
  }
  return {
    name,
    chat(id) {
      const model = models.get(id);
      if (model !== undefined) return chatModel(id, model, settings.models[id]!.context_size ?? defaultContextSize);
      throw noSuchModel(name, id, models.keys());
    },
    listModels: () =>
      Promise.all(
        Object.entries(settings.models).map(([id, model]) => describe(id, name, modelPath(model, modelsDirectory))),
      ),
    isLoaded: (id) => models.get(id)?.isLoaded === true,
    async close() {
      await Promise.all([...models.values()].map((model) => model.close()));
    },
  };
}
