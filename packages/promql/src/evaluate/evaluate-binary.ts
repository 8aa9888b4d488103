/** Binary operators where one side is a scalar, and unary minus. */
import { multiplyHistogram } from "../histogram/float-histogram.ts";
import type { BinaryExpression } from "../syntax/ast.ts";
import {
  changesMeaning,
  floatOperation,
  isComparison,
  sampleOperation,
  scalarOperation,
  type SampleValue,
} from "./arithmetic.ts";
import { workOfHistogram } from "./budget.ts";
import { absent, float, histogramAt, isEmpty, newColumn, setFloat, setHistogram, type Column } from "./grid.ts";
import type { OperatorContext } from "./query-context.ts";
import { StepReports } from "./step-reports.ts";

/** The sample at a step that has one. */
export function sampleAt(column: Column, step: number): SampleValue {
  return column.kinds[step] === float ? column.values[step]! : histogramAt(column, step);
}

export function setSample(column: Column, step: number, value: SampleValue): void {
  if (typeof value === "number") setFloat(column, step, value);
  else setHistogram(column, step, value);
}

/** Scalar and scalar. */
export function operateOnScalars(binary: BinaryExpression, left: Float64Array, right: Float64Array): Float64Array {
  const operate = scalarOperation(binary.operator);
  return left.map((value, step) => operate(value, right[step]!));
}

/** Vector and scalar, in either order; a comparison keeps the vector's samples for which it holds. */
export async function operateWithScalar(
  binary: BinaryExpression,
  sides: { columns: readonly Column[]; scalar: Float64Array; scalarIsLeft: boolean },
  context: OperatorContext,
): Promise<readonly Column[]> {
  const { columns, scalar, scalarIsLeft } = sides;
  const { operator, returnBool } = binary;
  const reports = new StepReports();
  const operate = sampleOperation(binary, reports);
  const floats = floatOperation(operator);
  const dropsName = changesMeaning(operator) || returnBool;
  const compares = isComparison(operator);
  const results: Column[] = [];
  for (const [order, column] of columns.entries()) {
    reports.order = order;
    context.budget.holdSamples(column.kinds.length);
    const result = newColumn(column.labels, column.dropName || dropsName, column.kinds.length);
    for (let step = 0; step < column.kinds.length; step++) {
      if (column.kinds[step] === absent) continue;
      if (column.kinds[step] === float && floats !== undefined) {
        const value = column.values[step]!;
        const other = scalar[step]!;
        const left = scalarIsLeft ? other : value;
        const right = scalarIsLeft ? value : other;
        if (floats.holds === null) setFloat(result, step, floats.compute(left, right));
        else if (returnBool) setFloat(result, step, floats.holds(left, right) ? 1 : 0);
        else if (floats.holds(left, right)) setFloat(result, step, value);
        continue;
      }
      reports.step = step;
      const sample = sampleAt(column, step);
      const operated = scalarIsLeft ? operate(scalar[step]!, sample) : operate(sample, scalar[step]!);
      if (operated === undefined) continue;
      if (returnBool) setFloat(result, step, operated.keep ? 1 : 0);
      else if (operated.keep) setSample(result, step, compares ? sample : operated.value);
      if (context.budget.spend(workOfHistogram)) await context.budget.yield();
    }
    if (isEmpty(result)) context.budget.releaseSamples(column.kinds.length);
    else results.push(result);
    if (context.budget.spend(column.kinds.length)) await context.budget.yield();
  }
  reports.addTo(context.annotations);
  return results;
}

/** Unary minus. */
export async function negateColumns(
  columns: readonly Column[],
  { budget }: OperatorContext,
): Promise<readonly Column[]> {
  const results: Column[] = [];
  for (const column of columns) {
    budget.holdSamples(column.kinds.length);
    const histograms = column.histograms === null ? null : [...column.histograms];
    for (const [step, value] of histograms?.entries() ?? []) {
      if (value === undefined) continue;
      histograms![step] = multiplyHistogram(value, -1);
      if (budget.spend(workOfHistogram)) await budget.yield();
    }
    results.push({ ...column, dropName: true, values: column.values.map((value) => -value), histograms });
    if (budget.spend(column.kinds.length)) await budget.yield();
  }
  return results;
}
