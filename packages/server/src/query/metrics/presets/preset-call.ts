/** Checks a metrics query's parameters against its preset. */
import type { MetricsQuery } from "../../../api/observability-metrics.ts";
import { showValue } from "../../../api/validate.ts";
import { AppError } from "../../../errors.ts";
import { parseDuration, parseTime } from "../../time-window.ts";
import { equals } from "./expression-factories.ts";
import { matcherFilters, type MetricPreset, type PresetCall } from "./preset.ts";

const defaultWindow = "1h";
const defaultStep = "1h";
const defaultPercentile = 0.95;

/** When a query is evaluated. */
export type PresetTimes =
  | { readonly kind: "instant"; readonly timeMs: number }
  | { readonly kind: "range"; readonly startMs: number; readonly endMs: number; readonly stepMs: number };

export interface CheckedCall extends PresetCall {
  readonly times: PresetTimes;
}

/**
 * @param project the only project that may be read; undefined means every project of the organization
 * @throws AppError invalid_request that names the parameter
 */
export function checkCall(
  preset: MetricPreset,
  query: MetricsQuery,
  { nowMs, project }: { nowMs: number; project: string | undefined },
): CheckedCall {
  const given = { ...query, project_name: query.project_name == null ? null : project };
  refuseForeignFilters(preset, query);
  const matchers = matcherFilters
    .map((filter) => [filter, given[filter] ?? preset.defaults?.[filter]] as const)
    .flatMap(([filter, value]) => (value === undefined ? [] : [equals(filter, value)]));
  return { matchers, percentile: readPercentile(query.percentile), ...readTimes(preset, query, nowMs) };
}

function refuseForeignFilters({ filters, name }: MetricPreset, query: MetricsQuery): void {
  for (const filter of [...matcherFilters, "percentile"] as const) {
    if (query[filter] == null || filters.includes(filter)) continue;
    const own = ["organization_id", ...filters, "time_window", "end", "step"].join(", ");
    throw new AppError("invalid_request", `${name} does not support the filter ${filter}; it supports ${own}.`, {
      param: filter,
    });
  }
}

/** `0.95` and `95` mean the same. */
function readPercentile(given: string | number | null | undefined): number {
  if (given == null) return defaultPercentile;
  const value = typeof given === "number" || /^(?:\d+\.?\d*|\.\d+)$/.test(given) ? Number(given) : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  // Rounded, so that 99.9 becomes exactly 0.999.
  if (value > 1 && value <= 100) return Number((value / 100).toPrecision(15));
  throw new AppError(
    "invalid_request",
    `percentile is ${showValue(given)}; expected a number from 0 to 1, such as "0.95", or from 1 to 100, such as "95".`,
    { param: "percentile" },
  );
}

function readTimes(
  { isConfigured }: MetricPreset,
  query: MetricsQuery,
  nowMs: number,
): Pick<CheckedCall, "times" | "windowSeconds"> {
  const givenEndMs = query.end == null ? undefined : Number(parseTime(query.end, "end") / 1_000_000n);
  const windowMs = milliseconds(query.time_window ?? defaultWindow, "time_window", nowMs);
  if (query.step === undefined) {
    return { times: { kind: "instant", timeMs: givenEndMs ?? nowMs }, windowSeconds: windowMs / 1000 };
  }
  const stepMs = milliseconds(query.step === null || query.step === "" ? defaultStep : query.step, "step", nowMs);
  const endMs = givenEndMs ?? (isConfigured ? nowMs : alignedEnd(nowMs, Math.min(stepMs, windowMs)));
  // The points' ranges are adjacent and the last one ends at the end. The first can start before the window.
  const points = Math.max(1, Math.ceil(windowMs / stepMs));
  const times = { kind: "range", startMs: endMs - (points - 1) * stepMs, endMs, stepMs } as const;
  return { times, windowSeconds: Math.min(stepMs, windowMs) / 1000 };
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
/** How many of these a window has at least, so that the part of the last window that is yet to come is small. */
const leastPerWindow = 12;

/** The end of the current minute or hour, because ranges between them can be read from sums of calls. */
function alignedEnd(nowMs: number, windowMs: number): number {
  const unitMs = [hourMs, minuteMs].find((unit) => windowMs >= leastPerWindow * unit);
  return unitMs === undefined ? nowMs : Math.ceil(nowMs / unitMs) * unitMs;
}

/** At most back to 1970. */
function milliseconds(text: string, parameter: string, nowMs: number): number {
  return Math.min(Number(parseDuration(text, parameter) / 1_000_000n), nowMs);
}
