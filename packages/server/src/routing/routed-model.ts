/** Describes where the calls of a model go, for the operator: targets with their state, fallbacks, retries, aliases. */
import type { RetrySettings } from "../config/models.ts";
import type { AppError } from "../errors.ts";
import type { Circuit } from "./circuit.ts";
import type { ModelRoute } from "./model-route.ts";
import { statusOf, type ModelStatus } from "./model-state.ts";
import type { RecentCallCounts } from "./recent-calls.ts";
import type { Target } from "./target.ts";

export interface RoutedModel extends ModelStatus {
  readonly id: string;
  /** Other IDs of the model. */
  readonly aliases: readonly string[];
  /** Whether it is in the configuration, under `models`. */
  readonly configured: boolean;
  /** Whether it is missing from the list of models. */
  readonly hidden: boolean;
  readonly targets: readonly TargetStatus[];
  /** Model IDs, in the order in which they are tried. */
  readonly fallbacks: readonly string[];
  readonly retries: RetrySettings;
}

export interface TargetStatus extends Pick<Target, "engine" | "model" | "weight"> {
  /** Most calls in flight; undefined without a limit. */
  readonly maxConcurrent: number | undefined;
  readonly inFlight: number;
  readonly circuit: Circuit["state"];
  /** Until a call may try the target again; 0 if the circuit is closed. */
  readonly retryAfterMs: number;
  /** The part of its weight that the target gets: less than 1 for a while after an outage. */
  readonly share: number;
  /** What remains of the pause that the engine asked for. */
  readonly coolingMs: number;
  readonly lastError: { readonly error: AppError; readonly unixMs: number } | undefined;
  readonly recent: RecentCallCounts;
}

export function toRoutedModel(
  route: ModelRoute,
  listing: Pick<RoutedModel, "aliases" | "configured" | "hidden">,
  nowMs: number,
): RoutedModel {
  return {
    id: route.id,
    ...listing,
    ...statusOf(route),
    targets: route.targets.map((target) => toTargetStatus(target, nowMs)),
    fallbacks: route.fallbacks.map(({ id }) => id),
    retries: route.retries,
  };
}

function toTargetStatus({ engine, model, weight, maxConcurrent, state }: Target, nowMs: number): TargetStatus {
  return {
    engine,
    model,
    weight,
    maxConcurrent: maxConcurrent === Infinity ? undefined : maxConcurrent,
    inFlight: state.inFlight,
    circuit: state.circuit.state,
    retryAfterMs: state.circuit.retryAfterMs(nowMs),
    share: state.circuit.share(nowMs),
    coolingMs: state.coolingMs(nowMs),
    lastError: state.lastError,
    recent: state.recent.counts(nowMs),
  };
}
