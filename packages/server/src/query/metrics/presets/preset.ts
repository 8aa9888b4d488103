/** Defines what a metric preset is: a named PromQL query with filters. */
import type { Expression, LabelMatcher } from "@sounding/promql/syntax/ast";

/** The filters of metrics queries that become label matchers. */
export const matcherFilters = [
  "project_name",
  "service_name",
  "agent_name",
  "agent_class",
  "model_key",
  "session_id",
  "user_id",
  "key_id",
  "status",
  "category",
] as const;
export type MatcherFilter = (typeof matcherFilters)[number];

export type PresetFilter = MatcherFilter | "percentile";

/** The checked parameters of a preset's call. */
export interface PresetCall {
  /** The given filters, and defaults of the others, as matchers. */
  readonly matchers: readonly LabelMatcher[];
  /** The length of the ranges: the window, or the step between points. */
  readonly windowSeconds: number;
  /** 0 to 1. */
  readonly percentile: number;
}

export interface MetricPreset {
  readonly name: string;
  readonly group: string;
  readonly description: string;
  /** The unit of the values. */
  readonly unit: string;
  /** The labels of the results. */
  readonly labels: readonly string[];
  /** In addition to `organization_id`, `time_window`, `end` and `step`, which every preset has. */
  readonly filters: readonly PresetFilter[];
  /** Whether its query is of the configuration, and may have windows of its own. */
  readonly isConfigured?: true;
  /** Defaults of filters. */
  readonly defaults?: Readonly<Partial<Record<MatcherFilter, string>>>;
  /** @throws AppError invalid_request when the call cannot be answered */
  readonly build: (call: PresetCall) => Expression;
}
