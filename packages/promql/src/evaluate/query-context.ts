/** What all parts of one query's evaluation share. */
import { QueryError } from "../query-error.ts";
import type { PromqlStorage, StoredSeries } from "../storage.ts";
import type { DurationExpression, Expression, VectorSelector } from "../syntax/ast.ts";
import type { Annotations } from "./annotations.ts";
import type { Budget } from "./budget.ts";
import type { Column } from "./grid.ts";
import type { RangeSeries } from "./range-series.ts";

/** What operators and aggregations need of a query. */
export interface OperatorContext {
  readonly budget: Budget;
  readonly annotations: Annotations;
}

export interface QueryContext extends OperatorContext {
  readonly storage: PromqlStorage;
  /** How far an instant selector looks back for a sample. */
  readonly lookbackMs: number;
  /** The step of subqueries that name none. */
  readonly defaultSubqueryStepMs: number;
  /** The query's own range, for start(), end(), range() and step(). */
  readonly startMs: number;
  readonly endMs: number;
  /** 0 for an instant query. */
  readonly stepMs: number;
  /** What the store answered for each selector of the query. */
  readonly selected: ReadonlyMap<VectorSelector, readonly StoredSeries[]>;
  /** What the store computed itself. */
  readonly answered: ReadonlyMap<Expression, readonly Column[]>;
  /** Whether an expression has the same value at every step. */
  readonly isStepInvariant: (expression: Expression) => boolean;
}

export type Value =
  | { readonly type: "vector"; readonly columns: readonly Column[] }
  | { readonly type: "scalar"; readonly values: Float64Array }
  | { readonly type: "string"; readonly value: string }
  /** Only at the top of an instant query. */
  | { readonly type: "matrix"; readonly series: readonly RangeSeries[] };

export type QueryTimes = Pick<QueryContext, "startMs" | "endMs" | "stepMs">;

/** An error of the evaluation, in Prometheus' words. */
export function evaluationError(problem: string): QueryError {
  return new QueryError("invalid_request", problem, { param: "query" });
}

/** A duration's milliseconds; only offsets may be zero or negative. */
export function durationMs(duration: DurationExpression, times: QueryTimes, mayBeNegative = false): number {
  const seconds = durationSeconds(duration, times);
  const fail = (problem: string): never => {
    throw evaluationError(`${duration.at.start}:${duration.at.end}: ${problem}`);
  };
  if (!Number.isFinite(seconds)) fail("duration is NaN or infinite");
  if (seconds <= 0 && !mayBeNegative) fail("duration must be greater than 0");
  if (Math.abs(seconds) > 2 ** 63 / 1e9) fail("duration is out of range");
  return duration.kind === "duration-number" ? Math.round(seconds * 1000) : Math.trunc(seconds * 1000);
}

function durationSeconds(duration: DurationExpression, times: QueryTimes): number {
  switch (duration.kind) {
    case "duration-number":
      return duration.seconds;
    case "duration-context":
      return (duration.word === "step" ? times.stepMs : times.endMs - times.startMs) / 1000;
    case "duration-choice": {
      const choose = duration.word === "min_of" ? Math.min : Math.max;
      return choose(durationSeconds(duration.left, times), durationSeconds(duration.right, times));
    }
    case "duration-negation":
      return -durationSeconds(duration.operand, times);
    case "duration-parentheses":
      return durationSeconds(duration.inner, times);
    case "duration-arithmetic":
      return durationArithmetic(duration, times);
  }
}

function durationArithmetic(
  duration: Extract<DurationExpression, { kind: "duration-arithmetic" }>,
  times: QueryTimes,
): number {
  const left = durationSeconds(duration.left, times);
  const right = durationSeconds(duration.right, times);
  const refuseZero = (problem: string): void => {
    if (right === 0) throw evaluationError(`${duration.at.start}:${duration.at.end}: ${problem}`);
  };
  switch (duration.operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      refuseZero("division by zero");
      return left / right;
    case "%":
      refuseZero("modulo by zero");
      return left % right;
    case "^":
      return left ** right;
  }
}

/** The milliseconds of an offset, 0 without one. */
export function offsetMs(node: Pick<VectorSelector, "offset">, times: QueryTimes): number {
  return node.offset === null ? 0 : durationMs(node.offset, times, true);
}

/** The time that `@` fixes, or undefined. */
export function fixedTimeMs(node: Pick<VectorSelector, "atTime">, times: QueryTimes): number | undefined {
  if (node.atTime === null) return undefined;
  if (typeof node.atTime === "number") return node.atTime;
  return node.atTime === "start" ? times.startMs : times.endMs;
}
