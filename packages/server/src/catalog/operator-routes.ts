/** HTTP routes that show an operator the targets of every model, and the engines. */
import {
  getRoutedModel,
  listEngines,
  listRoutedModels,
  type EngineObject,
  type RoutedModelObject,
} from "../api/admin-models.ts";
import { route, type Route } from "../http/route.ts";
import type { EngineStatus } from "../routing/engine-status.ts";
import type { Registry } from "../routing/registry.ts";
import type { RoutedModel, TargetStatus } from "../routing/routed-model.ts";

export function operatorRoutes(registry: Pick<Registry, "routed" | "routedModel" | "engines">): Route[] {
  return [
    route(listRoutedModels, ({ scope }) => {
      scope.requireOperator("list the targets of models");
      return { kind: "json", value: { object: "list", data: registry.routed().map(toRoutedModelObject) } };
    }),
    route(getRoutedModel, ({ scope, path }) => {
      scope.requireOperator("see the targets of a model");
      return { kind: "json", value: toRoutedModelObject(registry.routedModel(path["id"] ?? "")) };
    }),
    route(listEngines, ({ scope }) => {
      scope.requireOperator("list engines");
      return { kind: "json", value: { object: "list", data: registry.engines().map(toEngineObject) } };
    }),
  ];
}

function toRoutedModelObject(model: RoutedModel): RoutedModelObject {
  const { id, aliases, configured, hidden, capabilities, state, reason, fallbacks, retries } = model;
  return {
    object: "routed_model",
    id,
    aliases: [...aliases],
    configured,
    hidden,
    capabilities: [...capabilities],
    state,
    state_reason: reason ?? null,
    targets: model.targets.map(toTarget),
    fallbacks: [...fallbacks],
    retries: { ...retries },
  };
}

function toTarget(target: TargetStatus): RoutedModelObject["targets"][number] {
  const { recent, lastError } = target;
  return {
    engine: target.engine,
    model: target.model,
    weight: target.weight,
    share: target.share,
    max_concurrent: target.maxConcurrent ?? null,
    calls_in_flight: target.inFlight,
    circuit: target.circuit,
    retry_at: target.circuit === "open" ? secondsFromNow(target.retryAfterMs) : null,
    paused_until: target.coolingMs > 0 ? secondsFromNow(target.coolingMs) : null,
    last_error:
      lastError === undefined
        ? null
        : {
            code: lastError.error.code,
            message: lastError.error.message,
            at: Math.floor(lastError.unixMs / 1000),
          },
    recent: {
      window_seconds: recent.windowSeconds,
      calls: recent.calls,
      errors: recent.errors.map((each) => ({ ...each })),
      latency_ms: recent.latencyMs ?? null,
    },
  };
}

function toEngineObject({ name, type, configured, models, failure }: EngineStatus): EngineObject {
  return {
    object: "engine",
    name,
    type,
    configured,
    models: models ?? null,
    error: failure === undefined ? null : { code: failure.code, message: failure.message },
  };
}

function secondsFromNow(milliseconds: number): number {
  return Math.ceil((Date.now() + milliseconds) / 1000);
}
