/** Loads a GGUF file with llama.cpp and creates its context. */
import {
  getLlama,
  InsufficientMemoryError,
  LlamaLogLevel,
  NoBinaryFoundError,
  type LlamaContext,
  type LlamaModel,
} from "node-llama-cpp";
import { AppError } from "../../../errors.ts";
import { ggufProblem } from "../../../model-files/gguf-file.ts";
import { defaultContextSize, type LoadSettings } from "../protocol.ts";

export interface LoadedModel {
  readonly model: LlamaModel;
  readonly context: LlamaContext;
  readonly template: string;
  /** What computes: `cpu`, `cuda`, `vulkan` or `metal`. */
  readonly device: string;
}

export type ReportLog = (level: "warn" | "error", message: string) => void;

function contextSizeFor(model: LlamaModel, settings: LoadSettings): number {
  const trained = model.trainContextSize;
  if (settings.contextSize === undefined) return Math.min(trained, defaultContextSize);
  if (settings.contextSize <= trained) return settings.contextSize;
  throw new AppError(
    "upstream_failed",
    `context_size is ${settings.contextSize}, but the model was trained with at most ${trained} tokens.`,
  );
}

async function load(settings: LoadSettings, report: ReportLog): Promise<LoadedModel> {
  const problem = await ggufProblem(settings.path);
  if (problem !== undefined) throw new AppError("upstream_failed", `The model file cannot be loaded: ${problem}.`);
  const llama = await getLlama({
    gpu: settings.gpu,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    maxThreads: settings.threads,
    logLevel: LlamaLogLevel.warn,
    logger: (level, message) =>
      report(level === LlamaLogLevel.error || level === LlamaLogLevel.fatal ? "error" : "warn", message.trim()),
  });
  if (typeof settings.gpu === "string" && settings.gpu !== "auto" && llama.gpu !== settings.gpu) {
    throw new AppError(
      "upstream_failed",
      `gpu is ${JSON.stringify(settings.gpu)}, which is not available on this machine.`,
    );
  }
  const model = await llama.loadModel({
    modelPath: settings.path,
    ...(settings.gpu === false
      ? { gpuLayers: 0 }
      : settings.gpuLayers === undefined
        ? {}
        : { gpuLayers: settings.gpuLayers }),
  });
  const template = settings.chatTemplate ?? model.fileInfo.metadata.tokenizer.chat_template;
  if (typeof template !== "string") {
    throw new AppError(
      "upstream_failed",
      "The model file has no chat template; set chat_template in the configuration.",
    );
  }
  const context = await model.createContext({
    contextSize: contextSizeFor(model, settings),
    sequences: settings.sequences,
    threads: settings.threads,
    failedCreationRemedy: false,
  });
  return { model, context, template, device: llama.gpu === false ? "cpu" : llama.gpu };
}

function problemOf(error: unknown, { gpu }: LoadSettings): string {
  if (error instanceof NoBinaryFoundError) {
    return `No llama.cpp binary for gpu ${JSON.stringify(gpu)} is installed; the engine's documentation explains how to install one.`;
  }
  if (error instanceof InsufficientMemoryError)
    return "There is not enough memory for the model with this context_size.";
  return "The model file cannot be loaded; see the server's log.";
}

/**
 * @throws AppError upstream_failed if the file, the memory or the GPU is the problem
 */
export async function loadModel(settings: LoadSettings, report: ReportLog): Promise<LoadedModel> {
  try {
    return await load(settings, report);
  } catch (error) {
    if (error instanceof AppError) throw error;
    // The reason names paths of this machine: for the log, not for callers.
    report("error", error instanceof Error ? error.message : String(error));
    throw new AppError("upstream_failed", problemOf(error, settings), { cause: error });
  }
}
