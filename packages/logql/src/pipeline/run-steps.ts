/** Runs work that may wait: without a promise up to the first pause, as nearly all of it has none. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";

/** Work that yields what it waits for and continues with the result. */
export type Steps<Result> = Generator<Promise<unknown>, Result, unknown>;

export function runSteps<Result>(steps: Steps<Result>): Result | Promise<Result> {
  const first = steps.next();
  return first.done === true ? first.value : finish(steps, first.value);
}

async function finish<Result>(steps: Steps<Result>, pending: Promise<unknown>): Promise<Result> {
  let next = steps.next(await pending);
  while (next.done !== true) next = steps.next(await next.value);
  return next.value;
}

/** This many characters of a line are as much work as a sample. */
const charactersPerWork = 16;

/** Whether to pause after reading this many characters. */
export function isPauseDue(characters: number, budget: YieldBudget): boolean {
  return budget.spend(Math.ceil(characters / charactersPerWork));
}

/** The number of characters after which to ask whether a pause is due. */
export const charactersPerCheck = 16_384;
