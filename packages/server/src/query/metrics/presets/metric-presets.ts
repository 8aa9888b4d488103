/** Resolves the values of `metric` in metrics queries: the built-in presets and those of the configuration. */
import { showValue } from "../../../api/validate.ts";
import type { MetricPresetSettings } from "../../../config/metric-presets.ts";
import { AppError } from "../../../errors.ts";
import type { RatesOfModels } from "../../../pricing/current-rates.ts";
import { nonInferencePresets } from "./agent-presets.ts";
import { configuredPreset } from "./configured-preset.ts";
import { inferencePresets, tokenCostPreset } from "./inference-presets.ts";
import type { MetricPreset } from "./preset.ts";

/** Other names under which clients of the AI Refinery SDK know these metrics. */
export const presetAliases: Readonly<Record<string, string>> = {
  active_model_count: "inference_active_model_count",
  model_usage_trend: "inference_model_usage",
  response_time_performance: "inference_latency",
};

export interface MetricPresets {
  /** By name or alias. @throws AppError invalid_request that lists the names */
  find(name: string): MetricPreset;
  readonly all: readonly MetricPreset[];
}

interface MetricPresetOptions {
  readonly ratesOf: RatesOfModels;
  /** Further presets, by name. */
  readonly configured: Readonly<Record<string, MetricPresetSettings>>;
}

/** @throws AppError invalid_request when a configured preset is broken or has the name of a built-in one */
export function createMetricPresets({ configured, ratesOf }: MetricPresetOptions): MetricPresets {
  const builtIn = [...inferencePresets, tokenCostPreset(ratesOf), ...nonInferencePresets];
  const presets = new Map(builtIn.map((preset) => [preset.name, preset]));
  for (const [name, settings] of Object.entries(configured)) {
    if (presets.has(name) || Object.hasOwn(presetAliases, name)) {
      throw new AppError("invalid_request", `The metric preset ${name} already exists; choose another name.`, {
        param: `telemetry.metric_presets.${name}`,
      });
    }
    presets.set(name, configuredPreset(name, settings));
  }
  return {
    all: [...presets.values()],
    find(name) {
      const preset = presets.get(Object.hasOwn(presetAliases, name) ? presetAliases[name]! : name);
      if (preset !== undefined) return preset;
      const names = [...presets.keys(), ...Object.keys(presetAliases)].map(showValue).join(", ");
      throw new AppError("invalid_request", `metric is ${showValue(name)}; expected one of ${names}.`, {
        param: "metric",
      });
    },
  };
}
