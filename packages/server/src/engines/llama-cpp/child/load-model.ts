/** Loads a GGUF file with llama.cpp and creates its context. */
import {
  getLlama,
  InsufficientMemoryError,
  LlamaLogLevel,
  NoBinaryFoundError,
  type Llama,
  type LlamaContext,
  type LlamaEmbeddingContext,
  type LlamaModel,
} from "node-llama-cpp";
import { AppError } from "../../../errors.ts";
import { publicReason } from "../../public-reason.ts";
import { describeGguf, type GgufDescription } from "../../../model-files/gguf-file.ts";
import { embeddingProblem, poolings, purposeOf } from "../../../model-files/gguf-purpose.ts";
import { defaultContextSize, defaultEmbeddingTokens, type EmbeddingSettings, type LoadSettings } from "../protocol.ts";

interface Loaded {
  readonly model: LlamaModel;
  /** What computes: `cpu`, `cuda`, `vulkan` or `metal`. */
  readonly device: string;
}

export interface LoadedChatModel extends Loaded {
  readonly purpose: "chat";
  readonly context: LlamaContext;
  readonly template: string;
}

export interface LoadedEmbeddingModel extends Loaded {
  readonly purpose: "embeddings";
  readonly context: LlamaEmbeddingContext;
  /** Most tokens of a text. */
  readonly contextSize: number;
  readonly settings: EmbeddingSettings;
}

export type ReportLog = (level: "warn" | "error", message: string) => void;

/** Tokens of a batch of a model whose vectors do not depend on how its input is divided. */
const batchTokens = 512;

function contextSizeFor(model: LlamaModel, { contextSize }: LoadSettings, most: number): number {
  const trained = model.trainContextSize;
  if (contextSize === undefined) return Math.min(trained, most);
  if (contextSize <= trained) return contextSize;
  throw new AppError(
    "upstream_failed",
    `context_size is ${contextSize}, but the model was trained with at most ${trained} tokens.`,
  );
}

async function describe(path: string): Promise<GgufDescription> {
  try {
    return await describeGguf(path);
  } catch (error) {
    // What the system says about a file that cannot be read names its path.
    if (!(error instanceof Error) || "code" in error) throw error;
    throw new AppError("upstream_failed", `The model file cannot be loaded: ${error.message}.`, {
      cause: error,
      lasting: true,
    });
  }
}

async function load(settings: LoadSettings, report: ReportLog): Promise<LoadedChatModel | LoadedEmbeddingModel> {
  const description = await describe(settings.path);
  const embeds = purposeOf(description, settings.embeddings !== undefined) !== "chat";
  const problem = embeds ? embeddingProblem(description, settings.embeddings?.pooling) : undefined;
  if (problem !== undefined)
    throw new AppError("upstream_failed", `The model cannot be used: ${problem}.`, { lasting: true });
  const llama = await openLlama(settings, report);
  const model = await openModel(llama, settings, description);
  const device = llama.gpu === false ? "cpu" : llama.gpu;
  if (embeds) return { ...(await createEmbeddings(model, settings, description)), device };
  return { ...(await createChat(model, settings)), device };
}

async function openLlama(settings: LoadSettings, report: ReportLog): Promise<Llama> {
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
  return llama;
}

function openModel(
  llama: Llama,
  { path, gpu, gpuLayers, embeddings }: LoadSettings,
  { architecture }: GgufDescription,
): Promise<LlamaModel> {
  const pooling = embeddings?.pooling === undefined ? undefined : poolings.indexOf(embeddings.pooling);
  const layers = gpu === false ? 0 : gpuLayers;
  return llama.loadModel({
    modelPath: path,
    ...(layers === undefined ? {} : { gpuLayers: layers }),
    ...(pooling === undefined ? {} : { metadataOverrides: { [`${architecture}`]: { pooling_type: pooling } } }),
  });
}

async function createChat(model: LlamaModel, settings: LoadSettings): Promise<Omit<LoadedChatModel, "device">> {
  const template = settings.chatTemplate ?? model.fileInfo.metadata.tokenizer.chat_template;
  if (typeof template !== "string") {
    throw new AppError(
      "upstream_failed",
      "The model file has no chat template; set chat_template in the configuration.",
      { lasting: true },
    );
  }
  const context = await model.createContext({
    contextSize: contextSizeFor(model, settings, defaultContextSize),
    sequences: settings.sequences,
    threads: settings.threads,
    failedCreationRemedy: false,
  });
  return { purpose: "chat", model, context, template };
}

async function createEmbeddings(
  model: LlamaModel,
  settings: LoadSettings,
  { isCausal, pooling: ofFile }: GgufDescription,
): Promise<Omit<LoadedEmbeddingModel, "device">> {
  const contextSize = contextSizeFor(model, settings, defaultEmbeddingTokens);
  const { embeddings } = settings;
  const isDivisible = isCausal && (embeddings?.pooling ?? ofFile) === "last";
  const context = await model.createEmbeddingContext({
    // The library refuses texts that fill the context.
    contextSize: contextSize + 1,
    // All others need the whole text in one batch: for the mean, and because tokens see those after them.
    batchSize: isDivisible ? Math.min(batchTokens, contextSize) : contextSize + 1,
    threads: settings.threads,
  });
  return {
    purpose: "embeddings",
    model,
    context,
    contextSize,
    settings: embeddings ?? { pooling: undefined, normalize: true, minimumDimensions: undefined },
  };
}

/** @param said the library's last error message */
function failureOf(error: unknown, { gpu, path }: LoadSettings, said: string): AppError {
  const fail = (message: string, lasting = false) =>
    new AppError("upstream_failed", message, { cause: error, lasting });
  if (error instanceof NoBinaryFoundError) {
    return fail(
      `No llama.cpp binary for gpu ${JSON.stringify(gpu)} is installed; the engine's documentation explains how to install one.`,
    );
  }
  if (error instanceof InsufficientMemoryError || /failed to allocate|out of memory/i.test(said))
    return fail("There is not enough memory for the model with this context_size.");
  const reason = publicReason(said, [path]);
  return fail(
    `The model file cannot be loaded${reason === undefined ? "; see the server's log" : `: ${reason}`}.`,
    true,
  );
}

/**
 * @throws AppError upstream_failed if the file, the memory or the GPU is the problem
 */
export async function loadModel(
  settings: LoadSettings,
  report: ReportLog,
): Promise<LoadedChatModel | LoadedEmbeddingModel> {
  let said = "";
  const remember: ReportLog = (level, message) => {
    // The first error is the cause; the others say what failed because of it.
    if (level === "error" && said === "") said = message;
    report(level, message);
  };
  try {
    return await load(settings, remember);
  } catch (error) {
    if (error instanceof AppError) throw error;
    // The reason names paths of this machine: for the log, not for callers.
    report("error", error instanceof Error ? error.message : String(error));
    throw failureOf(error, settings, said);
  }
}
