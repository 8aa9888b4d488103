/** The times at which a range query is evaluated. */
import type { Moments } from "../../state/time-range.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 28].map((count) => count * day),
];

/** Pixels between two points: closer ones cannot be told apart. */
const pixelsPerPoint = 4;
/** Prometheus refuses more points per series. */
const maximumPoints = 11_000;

/** The least of the usual steps that is not too dense for a chart of this width. */
export function stepFor({ startMs, endMs }: Moments, widthPixels: number): number {
  const points = Math.max(20, widthPixels / pixelsPerPoint);
  const least = (endMs - startMs) / points;
  return steps.find((step) => step >= least) ?? steps.at(-1)! * Math.ceil(least / steps.at(-1)!);
}

export interface StepTimes extends Moments {
  readonly stepMs: number;
}

/** Multiples of the step, so that a refresh moves points and does not change them; the last one includes what is newest. */
export function stepTimes({ startMs, endMs }: Moments, stepMs: number): StepTimes {
  const start = Math.floor(startMs / stepMs) * stepMs;
  const end = Math.ceil(endMs / stepMs) * stepMs;
  return { startMs: start, endMs: end, stepMs };
}

/** Why a step does not fit to the range. */
export function stepProblem({ startMs, endMs, stepMs }: StepTimes): string | undefined {
  const points = Math.floor((endMs - startMs) / stepMs) + 1;
  if (points <= maximumPoints) return undefined;
  return `The step makes ${points.toLocaleString("en")} points per series; at most ${maximumPoints.toLocaleString("en")} are possible. Use a larger step or a shorter time range.`;
}

/** `15s`, `2m`, `1h`: as PromQL writes durations. */
export function stepText(stepMs: number): string {
  for (const [unitMs, unit] of [
    [day, "d"],
    [hour, "h"],
    [minute, "m"],
    [second, "s"],
  ] as const) {
    if (stepMs % unitMs === 0) return `${stepMs / unitMs}${unit}`;
  }
  return `${stepMs}ms`;
}
