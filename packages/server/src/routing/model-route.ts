/** How one model ID is answered: its targets, what comes when they cannot, and how often to try. */
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
