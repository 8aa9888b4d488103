/** Adds a recognizer and a voice to a models' directory that has none: those which most people would choose. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelSources } from "../config/model-sources.ts";
import { AppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { DownloadProgress } from "./download.ts";
import { findEspeakData } from "./espeak-data.ts";
import { modelKinds } from "./model-kinds.ts";
import { pullModel } from "./pull-model.ts";
import { modelsDirectoryOf, type PullOptions } from "./pull-options.ts";
import { listStoredModels, type StoredModel } from "./stored-models.ts";

export type FirstCapability = "transcription" | "speech";

/** Short names of the catalog. */
export const firstModels: Readonly<Record<FirstCapability, string>> = {
  transcription: "whisper-tiny.en",
  speech: "piper-joe",
};

/** In the models' directory: the names of the models that were added, which are not added again after they were removed. */
const noteName = ".sounding-first-models.json";
/** Between lines of the log. */
const percentPerLine = 25;

export interface FirstModelOptions
  extends ModelSources, Pick<PullOptions, "dataDirectory" | "signal" | "retryPauseMs" | "idleTimeoutMs"> {
  readonly logger: Logger;
  /** Called before a model is pulled. */
  onStart(model: string): void;
}

/** `there`: a model was there, or had been added before. */
export type FirstModelResult = "added" | "there" | "failed";

/** Never fails: problems are logged. */
export async function addFirstModel(
  capability: FirstCapability,
  options: FirstModelOptions,
): Promise<FirstModelResult> {
  const { dataDirectory, logger, signal } = options;
  const model = firstModels[capability];
  try {
    const noted = await readNote(dataDirectory);
    if (noted.includes(model) || (await hasModel(dataDirectory, capability))) return "there";
    options.onStart(model);
    logger.info({ model }, "a model is being added; discovery.install: false turns this off");
    const pulled = await pullModel({ ...options, source: model, onProgress: progressLines(model, logger) });
    if (capability === "speech") await findEspeakData(dataDirectory);
    await writeNote(dataDirectory, [...noted, model]);
    logger.info({ model, license: pulled.license, folder: modelsDirectoryOf(dataDirectory) }, "a model was added");
    return "added";
  } catch (error) {
    if (signal.aborted) return "failed";
    logger.info({ model, reason: reasonOf(error), error }, "a model could not be added; the next start tries again");
    return "failed";
  }
}

function reasonOf(error: unknown): string {
  return error instanceof AppError || error instanceof Error ? error.message : String(error);
}

/** Also one that is not whole: it was chosen by somebody. */
async function hasModel(dataDirectory: string, capability: FirstCapability): Promise<boolean> {
  const { models } = await listStoredModels(dataDirectory);
  const isOne = ({ kind }: StoredModel): boolean =>
    kind !== undefined && (modelKinds[kind].task === "speech") === (capability === "speech");
  return models.some(isOne);
}

function progressLines(model: string, logger: Logger): (name: string, progress: DownloadProgress) => void {
  let shown = 0;
  let phase: string | undefined;
  return (_, progress) => {
    if (progress.phase !== phase) [phase, shown] = [progress.phase, 0];
    if (progress.totalBytes === undefined || progress.phase === "verifying") return;
    const percent = Math.floor((100 * progress.doneBytes) / progress.totalBytes);
    if (percent < shown + percentPerLine) return;
    shown = percent - (percent % percentPerLine);
    logger.info({ model, phase, percent: shown }, "a model is being added");
  };
}

async function readNote(dataDirectory: string): Promise<readonly string[]> {
  try {
    const value: unknown = JSON.parse(await readFile(join(modelsDirectoryOf(dataDirectory), noteName), "utf8"));
    return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

async function writeNote(dataDirectory: string, models: readonly string[]): Promise<void> {
  const directory = modelsDirectoryOf(dataDirectory);
  await mkdir(directory, { recursive: true });
  const path = join(directory, noteName);
  await writeFile(`${path}.new`, `${JSON.stringify(models)}\n`);
  await rename(`${path}.new`, path);
}
