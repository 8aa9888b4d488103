/** What a start adds to a new server in the background: a recognizer and a voice. docs/adr/0245-weights-and-first-models.md */
import { resolve } from "node:path";
import type { Config } from "./config/config.ts";
import { addableModels, mayUnpackPocketSphinx } from "./config/discovery.ts";
import { modelSources } from "./config/model-sources.ts";
import type { Logger } from "./logger.ts";
import { addFirstModel, type FirstCapability } from "./model-files/first-models.ts";
import { enginePackage } from "./routing/engine-packages.ts";

/** Something is being added, or no longer. */
export interface Addition {
  readonly capability: FirstCapability;
  /** The ID under which it will be called. */
  readonly model: string;
  readonly state: "adding" | "added" | "failed";
}

export interface AddModelsOptions {
  /** What the server uses of its configuration. */
  readonly config: Config;
  readonly logger: Logger;
  /** Stops downloads. */
  readonly signal: AbortSignal;
  onAddition(addition: Addition): void;
  /** Asks the engines for their models again. */
  lookForModels(): Promise<void>;
}

/** The recognizer first, since Sounding has a voice of its own. Never fails: problems are logged. */
export async function addModels(options: AddModelsOptions): Promise<void> {
  const { config, signal } = options;
  const may = addableModels(config);
  const runs = enginePackage("sherpa_onnx")?.isInstalled === true;
  const hasRecognizer = may.transcription && runs && (await addOne("transcription", options));
  if (!hasRecognizer && !signal.aborted && mayUnpackPocketSphinx(config)) await addPocketSphinx(options);
  if (may.speech && runs && !signal.aborted) await addOne("speech", options);
}

/** @returns whether there is one now */
async function addOne(capability: FirstCapability, options: AddModelsOptions): Promise<boolean> {
  const { config, logger, signal, onAddition } = options;
  let started: string | undefined;
  const state = await addFirstModel(capability, {
    ...modelSources(),
    dataDirectory: resolve(config.storage.data_dir),
    logger,
    signal,
    onStart: (model) => onAddition({ capability, model: (started = model), state: "adding" }),
  });
  if (started !== undefined && state !== "there") onAddition({ capability, model: started, state });
  return state !== "failed";
}

async function addPocketSphinx(options: AddModelsOptions): Promise<void> {
  const { config, logger, signal, onAddition, lookForModels } = options;
  const { unpackPocketSphinx } = await import("./engines/pocketsphinx/unpack-packages.ts");
  const addition = { capability: "transcription", model: "pocketsphinx" } as const;
  let isAdding = false;
  const notify = (): void => {
    if (!isAdding) onAddition({ ...addition, state: "adding" });
    isAdding = true;
  };
  const dataDirectory = resolve(config.storage.data_dir);
  const isAdded = await unpackPocketSphinx({ dataDirectory, logger, notify, signal });
  if (isAdding) onAddition({ ...addition, state: isAdded ? "added" : "failed" });
  if (isAdded) await lookForModels();
}
