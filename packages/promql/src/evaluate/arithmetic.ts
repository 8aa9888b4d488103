/** Binary operators on single values. */
import {
  compactHistogram,
  divideHistogram,
  equalHistograms,
  multiplyHistogram,
  type FloatHistogram,
} from "../histogram/float-histogram.ts";
import { addHistograms, subtractHistograms } from "../histogram/histogram-arithmetic.ts";
import { trimHistogram } from "../histogram/trim.ts";
import type { BinaryExpression } from "../syntax/ast.ts";
import { messages } from "./annotations.ts";
import type { StepReports } from "./step-reports.ts";

type Operator = BinaryExpression["operator"];

const arithmetic: Partial<Record<Operator, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
  "^": power,
  atan2: Math.atan2,
};

const comparison: Partial<Record<Operator, (left: number, right: number) => boolean>> = {
  "==": (left, right) => left === right,
  "!=": (left, right) => left !== right,
  ">": (left, right) => left > right,
  "<": (left, right) => left < right,
  ">=": (left, right) => left >= right,
  "<=": (left, right) => left <= right,
};

/** IEEE's power: unlike in JavaScript, 1 to any power and -1 to an infinite one are 1. */
function power(left: number, right: number): number {
  if (left === 1 || (left === -1 && Math.abs(right) === Infinity)) return 1;
  return left ** right;
}

export function isComparison(operator: Operator): boolean {
  return comparison[operator] !== undefined;
}

/** Whether the operator's result no longer fits the metric's name. */
export function changesMeaning(operator: Operator): boolean {
  return arithmetic[operator] !== undefined;
}

/** An operator between two floats. A comparison returns the left value and whether it holds. */
export interface FloatOperation {
  readonly compute: (left: number, right: number) => number;
  readonly holds: ((left: number, right: number) => boolean) | null;
}

/** The operator on floats, undefined for those that only know histograms. */
export function floatOperation(operator: Operator): FloatOperation | undefined {
  const compute = arithmetic[operator];
  if (compute !== undefined) return { compute, holds: null };
  const holds = comparison[operator];
  return holds === undefined ? undefined : { compute: (left) => left, holds };
}

/** An operator between two scalars. A comparison returns 1 or 0. */
export function scalarOperation(operator: Operator): (left: number, right: number) => number {
  const compute = arithmetic[operator];
  if (compute !== undefined) return compute;
  const compare = comparison[operator]!;
  return (left, right) => (compare(left, right) ? 1 : 0);
}

/** A float or a histogram. */
export type SampleValue = number | FloatHistogram;

/** The sample that an operator returned, and whether a comparison holds. */
export interface OperationResult {
  readonly value: SampleValue;
  readonly keep: boolean;
}

/** An operator between two samples; undefined, with an annotation, where it has no result. */
export type SampleOperation = (left: SampleValue, right: SampleValue) => OperationResult | undefined;

export function sampleOperation(binary: BinaryExpression, reports: StepReports): SampleOperation {
  const { operator } = binary;
  const compute = arithmetic[operator];
  const compare = comparison[operator];
  const refuse = (left: SampleValue, right: SampleValue): undefined => {
    const message = messages.incompatibleTypes(operator, typeName(left), typeName(right));
    reports.add((annotations) => annotations.inform(message, binary.at));
    return undefined;
  };
  const ofHistograms = histogramOperation(binary, reports);
  return (left, right) => {
    if (typeof left === "number" && typeof right === "number") {
      if (compute !== undefined) return { value: compute(left, right), keep: true };
      return compare === undefined ? refuse(left, right) : { value: left, keep: compare(left, right) };
    }
    return ofHistograms(left, right, refuse);
  };
}

function typeName(value: SampleValue): string {
  return typeof value === "number" ? "float" : "histogram";
}

type Refuse = (left: SampleValue, right: SampleValue) => undefined;

function histogramOperation(
  binary: BinaryExpression,
  reports: StepReports,
): (left: SampleValue, right: SampleValue, refuse: Refuse) => OperationResult | undefined {
  return (left, right, refuse) => {
    if (typeof left === "number") {
      if (binary.operator !== "*" || typeof right === "number") return refuse(left, right);
      return { value: compactHistogram(multiplyHistogram(right, left)), keep: true };
    }
    if (typeof right === "number") return scaleOrTrim(left, right, { binary, refuse });
    switch (binary.operator) {
      case "+":
      case "-":
        return addOrSubtract(left, right, { binary, reports });
      case "==":
        return { value: left, keep: equalHistograms(left, right) };
      case "!=":
        return { value: left, keep: !equalHistograms(left, right) };
      default:
        return refuse(left, right);
    }
  };
}

function scaleOrTrim(
  left: FloatHistogram,
  right: number,
  { binary, refuse }: { binary: BinaryExpression; refuse: Refuse },
): OperationResult | undefined {
  switch (binary.operator) {
    case "*":
      return { value: compactHistogram(multiplyHistogram(left, right)), keep: true };
    case "/":
      return { value: compactHistogram(divideHistogram(left, right)), keep: true };
    case "</":
      return { value: trimHistogram(left, right, true), keep: true };
    case ">/":
      return { value: trimHistogram(left, right, false), keep: true };
    default:
      return refuse(left, right);
  }
}

function addOrSubtract(
  left: FloatHistogram,
  right: FloatHistogram,
  { binary, reports }: { binary: BinaryExpression; reports: StepReports },
): OperationResult | undefined {
  const isSum = binary.operator === "+";
  const operation = isSum ? "addition" : "subtraction";
  const addition = isSum ? addHistograms(left, right) : subtractHistograms(left, right);
  if (addition === undefined) {
    reports.add((annotations) => annotations.warn(messages.incompatibleBuckets(binary.operator), binary.at));
    return undefined;
  }
  if (addition.resetCollision) {
    reports.add((annotations) => annotations.warn(messages.resetCollision(operation), binary.at));
    return undefined;
  }
  if (addition.boundsReconciled) {
    reports.add((annotations) => annotations.inform(messages.mismatchedBounds(operation), binary.at));
  }
  const result = isSum ? addition.result : { ...addition.result, counterResetHint: "gauge" as const };
  return { value: compactHistogram(result), keep: true };
}
