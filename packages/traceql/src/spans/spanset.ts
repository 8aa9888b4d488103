/** A set of spans of one trace, as the stages of a query pass it on. */
import type { StaticValue } from "../syntax/ast.ts";
import type { TraceView } from "./trace-view.ts";

export interface NamedValue {
  readonly name: string;
  readonly value: StaticValue;
}

export interface Spanset {
  /** Their indices in the trace. */
  readonly spans: readonly number[];
  /** What `by()` and aggregates found: `by(name)`, `count()`. */
  readonly attributes: readonly NamedValue[];
}

/** From sets of spans of a trace to other sets of its spans. */
export type CompiledStages = (view: TraceView, input: readonly Spanset[]) => Promise<readonly Spanset[]>;
