/** The stages of a query, ready to be evaluated on one trace after the other, and what they need from a store. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { TracesRequest, TraceqlTrace } from "../storage.ts";
import type { FieldExpression, PipelineStage } from "../syntax/ast.ts";
import type { CompileContext } from "./compile-field.ts";
import { compileStages } from "./pipeline.ts";
import { needsOf, type Field } from "./read-field.ts";
import { conditionsOf, isImpossible } from "./span-conditions.ts";
import type { Spanset } from "./spanset.ts";
import { distinctFields, hasStructure, readsOfStages, type FieldRead } from "./stage-fields.ts";
import { structureOf } from "./trace-structure.ts";
import { TraceView } from "./trace-view.ts";

/** What the stages ask of a store; the rest of a request is up to the kind of query. */
export type StageNeeds = Pick<TracesRequest, "conditions" | "combination" | "wholeTraces" | "heads" | "fields">;

export interface CompiledQuery {
  readonly needs: StageNeeds;
  /** No trace can match: there is nothing to read. */
  readonly isImpossible: boolean;
  /** Every reading of a field by the stages. */
  readonly reads: readonly FieldRead[];
  /** How the stages compile expressions, for expressions on what they find. */
  readonly context: CompileContext;
  /** What the stages find in a trace: sets with at least one span. */
  evaluate(trace: TraceqlTrace): Promise<Match>;
}

export interface Match {
  readonly view: TraceView;
  readonly spansets: readonly Spanset[];
}

/** `otherFields` are read from what the stages find, not by them. */
export function compileQuery(
  stages: readonly PipelineStage[],
  { budget, otherFields = [] }: { readonly budget: YieldBudget; readonly otherFields?: readonly Field[] },
): CompiledQuery {
  const reads = readsOfStages(stages);
  const fields = distinctFields([...reads.map(({ field }) => field), ...otherFields]);
  const context: CompileContext = { budget, jointEvents: isConjunction(stages) };
  const evaluateStages = compileStages(stages, context);
  const conditions = conditionsOf(stages);
  const wholeTraces = hasStructure(stages) || fields.some((field) => needsOf(field).structure);
  return {
    needs: { ...conditions, wholeTraces, heads: fields.some((field) => needsOf(field).head), fields },
    isImpossible: isImpossible(conditions),
    reads,
    context,
    async evaluate(trace) {
      const structure = wholeTraces ? await structureOf(trace.spans, budget) : null;
      const view = new TraceView(trace, structure);
      const found = await evaluateStages(view, [{ spans: firstIndices(trace.spans.length), attributes: [] }]);
      return { view, spansets: found.filter(({ spans }) => spans.length > 0) };
    },
  };
}

/** A loop takes a fifth of the time of an iterator, which counts in traces of 100,000 spans. */
function firstIndices(count: number): readonly number[] {
  const indices: number[] = [];
  for (let index = 0; index < count; index++) indices.push(index);
  return indices;
}

/** As Tempo: only where nothing but conditions joined by `&&` filters spans, one event has to fulfil all of them. */
function isConjunction(stages: readonly PipelineStage[]): boolean {
  return stages.every((stage) => {
    if (stage.kind === "select") return true;
    return stage.kind === "spanset-filter" && (stage.condition === null || !hasAlternative(stage.condition));
  });
}

function hasAlternative(expression: FieldExpression): boolean {
  if (expression.kind === "unary") return hasAlternative(expression.operand);
  if (expression.kind !== "field-operation") return false;
  return expression.operator === "||" || hasAlternative(expression.left) || hasAlternative(expression.right);
}
