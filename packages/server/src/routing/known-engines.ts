/** The engines that may serve calls: those of the configuration, and those that discovery adds to them. */
import type { Config } from "../config/config.ts";
import { implicitEngines, modelFileEngines } from "../config/discovery.ts";
import type { EngineSettings } from "../config/engine-settings.ts";
import { trialEngineSettings } from "../engines/llama-cpp/engine.ts";

/** By the names that telemetry and prices know; engines of model files without their models. */
export function knownEngines({
  discovery,
  engines,
}: Pick<Config, "discovery" | "engines">): Readonly<Record<string, EngineSettings>> {
  const found = Object.entries(implicitEngines(discovery)).map(([name, { settings }]) => [name, settings] as const);
  return {
    trial: trialEngineSettings,
    [modelFileEngines.gguf]: { type: "llama_cpp", models: {} },
    [modelFileEngines.onnx]: { type: "sherpa_onnx", models: {} },
    ...Object.fromEntries(found),
    ...engines,
  };
}
