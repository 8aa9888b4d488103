/** What a preset of metrics queries is: a named PromQL query with filters. */
import type { Expression, LabelMatcher } from "../../../languages/promql/syntax/ast.ts";

/** The filters of metrics queries that become label matchers. */
export const matcherFilters = [
  "project_name",
  "agent_name",
  "agent_class",
  "model_key",
  "session_id",
  "status",
  "category",
] as const;
export type MatcherFilter = (typeof matcherFilters)[number];

export type PresetFilter = MatcherFilter | "percentile";

/** What a call of a preset asks for, checked. */
export interface PresetCall {
  /** The filters that were given or have a default, as matchers. */
  readonly matchers: readonly LabelMatcher[];
  /** The length of the ranges: the look-back, or the distance of the points. */
  readonly windowSeconds: number;
  /** 0 to 1. */
  readonly percentile: number;
}

export interface MetricPreset {
  readonly name: string;
  readonly group: string;
  readonly description: string;
  /** Of the values. */
  readonly unit: string;
  /** That the results have. */
  readonly labels: readonly string[];
  /** Beside `organization_id`, `time_window` and `step`, which all have. */
  readonly filters: readonly PresetFilter[];
  /** Values of filters that were not given. */
  readonly defaults?: Readonly<Partial<Record<MatcherFilter, string>>>;
  /** @throws AppError invalid_request when the call cannot be answered */
  readonly build: (call: PresetCall) => Expression;
}
