/** Runs stages one after the other. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { CompiledStage, Entry, Passes } from "./stage.ts";

/** Whether the entry passes all stages from an index on. */
export function runStages(stages: readonly CompiledStage[], entry: Entry, budget: YieldBudget, from = 0): Passes {
  for (let index = from; index < stages.length; index++) {
    const passes = stages[index]!.process(entry, budget);
    if (passes === true) continue;
    if (passes === false) return false;
    return passes.then((one) => one && runStages(stages, entry, budget, index + 1));
  }
  return true;
}
