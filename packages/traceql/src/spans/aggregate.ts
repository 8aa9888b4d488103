/** Aggregates over a set of spans, and arithmetic with them. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { Aggregate, AggregateOperator, ScalarExpression, StaticValue } from "../syntax/ast.ts";
import { compileValue, operatorsOf, type CompileContext } from "./compile-field.ts";
import { nameOfAggregate } from "./print-element.ts";
import type { FieldReader } from "./read-field.ts";
import { forEachSpan } from "./span-loop.ts";
import type { CompiledStages, NamedValue, Spanset } from "./spanset.ts";
import { calculate, compareValues, durationValue, intValue, nil, numberOf } from "./static-value.ts";
import type { TraceView } from "./trace-view.ts";

export interface Scalar {
  /** Nil if no span has what is aggregated. */
  readonly value: StaticValue;
  /** Of all aggregates in the expression. */
  readonly attributes: readonly NamedValue[];
}

export type CompiledScalar = (view: TraceView, spanset: Spanset) => Promise<Scalar>;

type CompileStages = (stages: Extract<ScalarExpression, { kind: "scalar-pipeline" }>["stages"]) => CompiledStages;

export function compileScalar(
  expression: ScalarExpression,
  context: CompileContext,
  compileStages: CompileStages,
): CompiledScalar {
  switch (expression.kind) {
    case "static": {
      const scalar: Scalar = { value: expression.value, attributes: [] };
      return () => Promise.resolve(scalar);
    }
    case "aggregate":
      return compileAggregate(expression, context);
    case "scalar-operation": {
      const left = compileScalar(expression.left, context, compileStages);
      const right = compileScalar(expression.right, context, compileStages);
      return async (view, spanset) => {
        const [one, other] = [await left(view, spanset), await right(view, spanset)];
        return {
          value: calculate(expression.operator, one.value, other.value),
          attributes: [...one.attributes, ...other.attributes],
        };
      };
    }
    case "scalar-pipeline": {
      const stages = compileStages(expression.stages);
      const scalar = compileScalar(expression.scalar, context, compileStages);
      return async (view, spanset) => {
        const found = await stages(view, [spanset]);
        return scalar(view, { spans: found.flatMap(({ spans }) => spans), attributes: [] });
      };
    }
  }
}

function compileAggregate(aggregate: Aggregate, context: CompileContext): CompiledScalar {
  const name = nameOfAggregate(aggregate);
  const { expression, operator } = aggregate;
  const read = expression === null ? null : compileValue(expression, context);
  const operators = expression === null ? 0 : operatorsOf(expression);
  return async (view, spanset) => {
    const value = await aggregated(operator, { read, operators, view, spans: spanset.spans, budget: context.budget });
    return { value, attributes: [{ name, value }] };
  };
}

interface AggregateInput {
  readonly read: FieldReader | null;
  /** Of the aggregated expression. */
  readonly operators: number;
  readonly view: TraceView;
  readonly spans: readonly number[];
  readonly budget: YieldBudget;
}

async function aggregated(
  operator: AggregateOperator,
  { budget, operators, read, spans, view }: AggregateInput,
): Promise<StaticValue> {
  if (operator === "count" || read === null) return intValue(spans.length);
  const total = accumulators[operator]();
  const visit = (index: number): void => {
    const value = read(view, index);
    if (numberOf(value) !== undefined) total.add(value);
  };
  await forEachSpan(view, spans, { budget, operators, visit });
  return total.result();
}

interface Accumulator {
  add(value: StaticValue): void;
  result(): StaticValue;
}

const accumulators: Readonly<Record<Exclude<AggregateOperator, "count">, () => Accumulator>> = {
  min: () => chosen("<"),
  max: () => chosen(">"),
  sum: () => {
    const sum = new Sum();
    return { add: (value) => sum.add(value), result: () => sum.value };
  },
  avg: () => {
    const sum = new Sum();
    return { add: (value) => sum.add(value), result: () => sum.mean() };
  },
};

function chosen(operator: "<" | ">"): Accumulator {
  let best = nil;
  return {
    add(value) {
      if (best === nil || compareValues(operator, value, best)) best = value;
    },
    result: () => best,
  };
}

/** Keeps the type of the values, or adds as floats where they are of several types. */
class Sum {
  value = nil;
  #count = 0;

  add(value: StaticValue): void {
    this.#count++;
    this.value = this.#count === 1 ? value : added(this.value, value);
  }

  /** A duration for durations, else a float. */
  mean(): StaticValue {
    if (this.#count === 0) return nil;
    if (this.value.type === "duration") return durationValue(this.value.nanoseconds / BigInt(this.#count));
    return { type: "float", value: Number(numberOf(this.value)) / this.#count };
  }
}

function added(left: StaticValue, right: StaticValue): StaticValue {
  if (left.type === "duration" && right.type === "duration") {
    return durationValue(BigInt.asIntN(64, left.nanoseconds + right.nanoseconds));
  }
  return calculate("+", left, right);
}
