/** What a metrics function measures of a span: a number, in seconds for the span's duration. */
import type { Field } from "../spans/read-field.ts";
import { numberOf } from "../spans/static-value.ts";
import type { StaticValue } from "../syntax/ast.ts";
import { bucketOf } from "./log2-histogram.ts";

const nanosPerSecond = 1e9;

export function isSpanDuration(field: Field | null): boolean {
  return field?.kind === "intrinsic" && field.intrinsic === "duration";
}

/** The number of a value; undefined for what is none. Other durations than the span's are in nanoseconds, as in Tempo. */
export function measureOf(value: StaticValue): number | undefined {
  const number = numberOf(value);
  if (number === undefined) return undefined;
  const measured = Number(number);
  return Number.isNaN(measured) ? undefined : measured;
}

/** The factor from what was measured to the result. */
export function unitOf(field: Field | null): number {
  return isSpanDuration(field) ? nanosPerSecond : 1;
}

/** The bucket of a value in a histogram, in seconds for all durations; only ints and durations have one. */
export function histogramBucket(value: StaticValue): number | undefined {
  if (value.type === "int") {
    const bucket = bucketOf(value.value);
    return bucket === undefined ? undefined : Number(bucket);
  }
  if (value.type !== "duration") return undefined;
  const bucket = bucketOf(value.nanoseconds);
  return bucket === undefined ? undefined : Number(bucket) / nanosPerSecond;
}
