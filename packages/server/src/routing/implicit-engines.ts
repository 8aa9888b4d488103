/**
 * The engines that exist without configuration: those of vendors with a key, those of this machine, the trial model, and one
 * for each model file.
 */
import type { Config } from "../config/config.ts";
import { implicitEngines, modelFileEngines, type ImplicitEngine } from "../config/discovery.ts";
import type { EngineSettings } from "../config/engine-settings.ts";
import { trialEngineSettings } from "../engines/llama-cpp/engine.ts";
import { plannedEngines, type PlannedModel } from "../model-files/plan-models.ts";
import { enginePackage } from "./engine-packages.ts";

/** @param files what becomes of the stored models */
export function enginesWithoutConfiguration(
  { discovery }: Pick<Config, "discovery">,
  files: readonly PlannedModel[],
): Readonly<Record<string, ImplicitEngine>> {
  const hasTrial = discovery.enabled && enginePackage("llama_cpp")?.isInstalled === true;
  const trial = hasTrial ? { trial: { settings: trialEngineSettings, optional: false } } : {};
  return { ...implicitEngines(discovery), ...trial, ...plannedEngines(files) };
}

/** Those of model files, whichever are there. */
const fileEngines: Readonly<Record<string, EngineSettings>> = {
  [modelFileEngines.gguf]: { type: "llama_cpp", models: {} },
  [modelFileEngines.onnx]: { type: "sherpa_onnx", models: {} },
};

/** All engines that may serve calls, by the names that telemetry and prices know. */
export function knownEngines(config: Pick<Config, "discovery" | "engines">): Readonly<Record<string, EngineSettings>> {
  const found = Object.entries(enginesWithoutConfiguration(config, [])).map(([name, { settings }]) => [name, settings]);
  return { ...fileEngines, ...Object.fromEntries(found), ...config.engines };
}
