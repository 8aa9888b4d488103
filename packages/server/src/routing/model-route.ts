/** Defines a route: the targets of one model ID, its fallbacks, and its retries. */
import type { RetrySettings } from "../config/models.ts";
import type { Lease } from "./engine-pool.ts";
import type { Target } from "./target.ts";

export interface ModelRoute {
  /** The model ID, which answers carry as `model`. */
  readonly id: string;
  readonly targets: readonly Target[];
  /** Tried in this order after the targets; a fallback's own fallbacks are not followed. */
  readonly fallbacks: readonly ModelRoute[];
  readonly retries: RetrySettings;
  /** Holds the engines of targets and fallbacks while calls run. */
  readonly lease: Lease;
}
