/**
 * Keeps a registry in step with the configuration and with the folder of model files: a model that appears there is served,
 * and one that disappears is not, without a restart. docs/adr/0008-routing-and-guardrails.md
 */
import type { Config } from "../config/config.ts";
import { trialModelId } from "../engines/llama-cpp/trial/trial-model.ts";
import type { Logger } from "../logger.ts";
import { prepareStoredModels } from "../model-files/prepare-stored-models.ts";
import { planModels, type PlannedModel } from "../model-files/plan-models.ts";
import { listStoredModels, type StoredModel } from "../model-files/stored-models.ts";
import { watchModels, type ModelsWatch } from "../model-files/watch-models.ts";
import type { CircuitExchange } from "./circuit-exchange.ts";
import type { CreateEngine } from "./engine-pool.ts";
import { enginesWithoutConfiguration } from "./implicit-engines.ts";
import { createRegistry, type Registry } from "./registry.ts";
import type { ModelsConfig } from "./route-table.ts";

export interface ServedModelsOptions {
  readonly config: Config;
  readonly dataDirectory: string;
  readonly createEngine: CreateEngine;
  readonly logger: Logger;
  readonly circuits?: CircuitExchange | undefined;
}

export interface ServedModels {
  readonly registry: Registry;
  /** @throws AppError when the configuration is invalid; then the old one stays active */
  reload(config: Config): Promise<void>;
  /** Reads the folder of model files, and asks all engines for their models again. */
  lookAgain(): Promise<void>;
  close(): Promise<void>;
}

/** What becomes of each stored model with this configuration. */
export function planOf(
  { discovery, engines }: Config,
  dataDirectory: string,
  stored: readonly StoredModel[],
): PlannedModel[] {
  const setting = discovery.enabled ? "model_files" : "enabled";
  const disabled = discovery.enabled && discovery.model_files ? undefined : `discovery.${setting} is false`;
  const own = discovery.enabled ? { [`${trialModelId}.gguf`]: { engine: "trial", id: trialModelId } } : {};
  return planModels({ dataDirectory, stored, engines, own, disabled });
}

/** @throws AppError if an engine cannot be created */
export async function serveModels(options: ServedModelsOptions): Promise<ServedModels> {
  const { circuits, dataDirectory, createEngine, logger } = options;
  let { config } = options;
  let shown = "";
  let watch: ModelsWatch | undefined;
  let running: Promise<void> = Promise.resolve();

  async function look(next: Config): Promise<ModelsConfig> {
    const stored = await listStoredModels(dataDirectory);
    watch?.follow(stored.folders);
    const models = await prepareStoredModels(dataDirectory, stored.models);
    const engines = enginesWithoutConfiguration(next, planOf(next, dataDirectory, models));
    shown = JSON.stringify(engines);
    return { ...next, implicitEngines: engines };
  }

  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = running.then(work);
    running = done.catch(() => undefined);
    return done;
  }

  const registry = await createRegistry({ config: await look(config), createEngine, logger, circuits });

  async function rescan(): Promise<void> {
    const before = shown;
    const next = await look(config);
    if (shown !== before) await registry.reload(next);
  }

  const onChange = (): void => {
    inTurn(rescan).catch((error: unknown) => logger.error({ error }, "the model files could not be read"));
  };
  const onFailure = (error: unknown): void =>
    logger.warn({ error }, "a folder of model files is not watched; it is read every discovery.refresh_interval_ms");
  try {
    watch = await watchModels({ dataDirectory, onChange, onFailure });
  } catch (error) {
    onFailure(error);
  }
  // What changed until the folders were watched.
  await inTurn(rescan);
  let timer = setInterval(onChange, config.discovery.refresh_interval_ms).unref();

  return {
    registry,
    reload: (next) =>
      inTurn(async () => {
        await registry.reload(await look(next));
        config = next;
        clearInterval(timer);
        timer = setInterval(onChange, config.discovery.refresh_interval_ms).unref();
      }),
    async lookAgain() {
      await inTurn(rescan);
      await registry.lookAgain();
    },
    async close() {
      watch?.close();
      clearInterval(timer);
      await running;
      await registry.close();
    },
  };
}
