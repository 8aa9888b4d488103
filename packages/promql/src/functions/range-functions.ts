/** Every function that takes a range of samples, by name. */
import { instantRateFunction } from "./instant-rate.ts";
import { overTimeFunctions } from "./over-time.ts";
import type { RangeFunction } from "./range-function.ts";
import { rateFunction } from "./rate.ts";
import { regressionFunctions } from "./regression.ts";
import { changesFunction, resetsFunction } from "./resets-and-changes.ts";

export const rangeFunctions: ReadonlyMap<string, RangeFunction> = new Map(
  Object.entries({
    rate: rateFunction({ isCounter: true, perSecond: true }),
    increase: rateFunction({ isCounter: true, perSecond: false }),
    delta: rateFunction({ isCounter: false, perSecond: false }),
    irate: instantRateFunction(true),
    idelta: instantRateFunction(false),
    resets: resetsFunction,
    changes: changesFunction,
    ...overTimeFunctions,
    ...regressionFunctions,
  }),
);

/** The functions that accept a window with a boundary modifier. */
export const boundaryFunctions: Readonly<Record<"anchored" | "smoothed", readonly string[]>> = {
  anchored: ["changes", "delta", "increase", "rate", "resets"],
  smoothed: ["delta", "increase", "rate"],
};
