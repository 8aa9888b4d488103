/** Finds a text in a line; in a long one by slices, so that other requests run in between. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { charactersPerCheck, isPauseDue, runSteps, type Steps } from "./run-steps.ts";

/** Up to here, a search takes less than a millisecond, even through a line that nearly matches everywhere. */
export const shortLine = 2 * charactersPerCheck;

/** Whether a line contains a text; a promise only where the line is long. */
export function includesText(line: string, wanted: string, budget: YieldBudget): boolean | Promise<boolean> {
  if (line.length <= shortLine) return line.includes(wanted);
  const found = runSteps(findText(line, wanted, 0, budget));
  return typeof found === "number" ? found !== -1 : found.then((position) => position !== -1);
}

/** The position of a text at or behind another position; -1 if it is not there. */
export function* findText(line: string, wanted: string, from: number, budget: YieldBudget): Steps<number> {
  const step = Math.max(charactersPerCheck, wanted.length);
  let at = from;
  for (; line.length - at > step + wanted.length; at += step) {
    const found = line.slice(at, at + step + wanted.length - 1).indexOf(wanted);
    if (found !== -1) return at + found;
    if (isPauseDue(step, budget)) yield budget.yield();
  }
  return line.indexOf(wanted, at);
}
