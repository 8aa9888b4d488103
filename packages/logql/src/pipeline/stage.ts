/** One compiled stage of a pipeline, and the entry that it works on. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { EntryLabels } from "./entry-labels.ts";

/** An entry on its way through the stages. */
export interface Entry {
  /** Nanoseconds since 1970. */
  readonly unixNano: bigint;
  line: string;
  /** The unwrapped value. */
  value: number;
  readonly labels: EntryLabels;
}

/** Whether an entry passes. A promise only where the work is long. */
export type Passes = boolean | Promise<boolean>;

export interface CompiledStage {
  /** The labels that it reads: parsers before it must extract them. */
  readonly reads: readonly string[];
  process(entry: Entry, budget: YieldBudget): Passes;
}
