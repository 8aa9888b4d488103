/** The stages of a query, compiled once and evaluated on one trace after the other. */
import { QueryError } from "@sounding/promql/query-error";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { GroupBy, PipelineStage, ScalarFilter, SpansetFilter, SpansetOperation } from "../syntax/ast.ts";
import { compileScalar } from "./aggregate.ts";
import { compileCondition, compileValue, operatorsOf, type CompileContext } from "./compile-field.ts";
import { nameOfGroup } from "./print-element.ts";
import { markedSpans, relateSpans, selectSpans } from "./relate-spans.ts";
import { forEachSpan } from "./span-loop.ts";
import type { CompiledStages, Spanset } from "./spanset.ts";
import { compareValues, keyOf } from "./static-value.ts";
import type { TraceStructure } from "./trace-structure.ts";
import type { TraceView } from "./trace-view.ts";

export function compileStages(stages: readonly PipelineStage[], context: CompileContext): CompiledStages {
  const compiled = stages.map((stage) => compileStage(stage, context));
  if (compiled.length === 1) return compiled[0]!;
  return async (view, input) => {
    let spansets = input;
    for (const evaluate of compiled) {
      if (spansets.length === 0) break;
      spansets = await evaluate(view, spansets);
    }
    return spansets;
  };
}

function compileStage(stage: PipelineStage, context: CompileContext): CompiledStages {
  switch (stage.kind) {
    case "spanset-filter":
      return compileFilter(stage, context);
    case "spanset-operation":
      return compileOperation(stage, context);
    case "nested-pipeline":
      return compileStages(stage.stages, context);
    case "scalar-filter":
      return compileScalarFilter(stage, context);
    case "group-by":
      return compileGroupBy(stage, context);
    case "coalesce":
      return (_, input) => Promise.resolve([{ spans: input.flatMap(({ spans }) => spans), attributes: [] }]);
    case "select":
      return (_, input) => Promise.resolve(input);
  }
}

function compileFilter({ condition }: SpansetFilter, context: CompileContext): CompiledStages {
  if (condition === null) return (_, input) => Promise.resolve(input.filter(({ spans }) => spans.length > 0));
  const holds = compileCondition(condition, context);
  const operators = operatorsOf(condition);
  const { budget } = context;
  return async (view, input) => {
    const output: Spanset[] = [];
    for (const { attributes, spans } of input) {
      const found: number[] = [];
      const visit = (index: number): void => {
        if (holds(view, index)) found.push(index);
      };
      await forEachSpan(view, spans, { budget, operators, visit });
      if (found.length > 0) output.push({ spans: found, attributes });
    }
    return output;
  };
}

function compileOperation(operation: SpansetOperation, context: CompileContext): CompiledStages {
  const left = compileStage(operation.left, context);
  const right = compileStage(operation.right, context);
  const { budget } = context;
  return async (view, input) => {
    const output: Spanset[] = [];
    for (const spanset of input) {
      const sides = { left: await left(view, [spanset]), right: await right(view, [spanset]) };
      const spans = await combine(operation, sides, { view, budget });
      // Each operator takes a few steps for every span of the trace.
      if (budget.spend(view.spans.length)) await budget.yield();
      if (spans.length > 0) output.push({ spans, attributes: spanset.attributes });
    }
    return output;
  };
}

interface Operands {
  readonly left: readonly Spanset[];
  readonly right: readonly Spanset[];
}

async function combine(
  { operator }: SpansetOperation,
  { left, right }: Operands,
  { budget, view }: { readonly view: TraceView; readonly budget: YieldBudget },
): Promise<readonly number[]> {
  if (operator === "&&" || operator === "||") {
    const isFound = left.length > 0 && right.length > 0;
    return isFound || operator === "||" ? unite(allSpans(left), allSpans(right), { view, budget }) : [];
  }
  if (right.length === 0) return [];
  if (left.length > 1 || right.length > 1) {
    throw new QueryError(
      "invalid_request",
      `the operator "${operator}" needs one set of spans of a trace on each side, not several: put coalesce() after by()`,
      { param: "q" },
    );
  }
  const sides = { left: left[0]?.spans ?? [], right: right[0]!.spans };
  return relateSpans(operator, sides, { tree: structureIn(view), budget });
}

function allSpans(spansets: readonly Spanset[]): readonly number[] {
  return spansets.length === 1 ? spansets[0]!.spans : spansets.flatMap(({ spans }) => spans);
}

function structureIn({ structure }: TraceView): TraceStructure {
  if (structure === null) throw new Error("a structural operator is evaluated on a trace without structure");
  return structure;
}

/** Begins with the smaller side, as Tempo does. */
async function unite(
  left: readonly number[],
  right: readonly number[],
  { budget, view }: { readonly view: TraceView; readonly budget: YieldBudget },
): Promise<readonly number[]> {
  const [smaller, larger] = left.length < right.length ? [left, right] : [right, left];
  if (smaller.length === 0) return larger;
  const marks = await markedSpans(smaller, view.spans.length, budget);
  return smaller.concat(await selectSpans(larger, (index) => marks[index] === 0, budget));
}

/** The cost of comparing two scalars, in units of the budget. */
const workOfSpanset = 16;

function compileScalarFilter({ left, operator, right }: ScalarFilter, context: CompileContext): CompiledStages {
  const compileNested = (stages: readonly PipelineStage[]): CompiledStages => compileStages(stages, context);
  const readLeft = compileScalar(left, context, compileNested);
  const readRight = compileScalar(right, context, compileNested);
  return async (view, input) => {
    const output: Spanset[] = [];
    for (const spanset of input) {
      if (context.budget.spend(workOfSpanset)) await context.budget.yield();
      const [one, other] = [await readLeft(view, spanset), await readRight(view, spanset)];
      if (!compareValues(operator, one.value, other.value)) continue;
      output.push({
        spans: spanset.spans,
        attributes: [...spanset.attributes, ...one.attributes, ...other.attributes],
      });
    }
    return output;
  };
}

/** Groups in the order of their first spans. */
function compileGroupBy(stage: GroupBy, context: CompileContext): CompiledStages {
  const name = nameOfGroup(stage);
  const read = compileValue(stage.expression, context);
  const operators = operatorsOf(stage.expression);
  const { budget } = context;
  return async (view, input) => {
    const output: Spanset[] = [];
    for (const { attributes, spans } of input) {
      const groups = new Map<string, number[]>();
      const visit = (index: number): void => {
        const value = read(view, index);
        const key = keyOf(value);
        const group = groups.get(key);
        if (group !== undefined) {
          group.push(index);
          return;
        }
        const members = [index];
        groups.set(key, members);
        output.push({ spans: members, attributes: [...attributes, { name, value }] });
      };
      await forEachSpan(view, spans, { budget, operators, visit });
    }
    return output;
  };
}
