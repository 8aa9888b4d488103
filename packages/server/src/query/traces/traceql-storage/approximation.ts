/**
 * Conditions in SQL that stand for conditions of TraceQL, from both sides: rows for which the condition may hold, and rows for
 * which it must. They are the same condition where SQL decides; the engine decides the rows between them.
 */
import { join, sql, type Statement } from "../../../store/statement.ts";

/** A condition, or what it always is. */
export type Bound = Statement | boolean;

export interface Approximation {
  /** Holds for every row for which the condition holds. */
  readonly may: Bound;
  /** Holds only for rows for which the condition holds. */
  readonly must: Bound;
}

export const undecided: Approximation = { may: true, must: false };
export const never: Approximation = { may: false, must: false };

/** Decided by SQL. */
export function exactly(condition: Bound): Approximation {
  return { may: condition, must: condition };
}

export function isExact({ may, must }: Approximation): boolean {
  return may === must;
}

export function bothOf(left: Approximation, right: Approximation): Approximation {
  return combine(left, right, and);
}

export function eitherOf(left: Approximation, right: Approximation): Approximation {
  return combine(left, right, or);
}

export function not({ may, must }: Approximation): Approximation {
  if (may === must) return exactly(negated(may));
  return { may: negated(must), must: negated(may) };
}

/** The condition in SQL that rows which may fulfil it fulfil; undefined for every row. */
export function conditionOf(bound: Bound): Statement | undefined {
  if (bound === true) return undefined;
  return bound === false ? sql`false` : bound;
}

function combine(
  left: Approximation,
  right: Approximation,
  operator: (left: Bound, right: Bound) => Bound,
): Approximation {
  const may = operator(left.may, right.may);
  return isExact(left) && isExact(right) ? exactly(may) : { may, must: operator(left.must, right.must) };
}

export function and(left: Bound, right: Bound): Bound {
  if (left === false || right === false) return false;
  if (left === true) return right;
  return right === true ? left : sql`(${join([left, right], sql` AND `)})`;
}

export function or(left: Bound, right: Bound): Bound {
  if (left === true || right === true) return true;
  if (left === false) return right;
  return right === false ? left : sql`(${join([left, right], sql` OR `)})`;
}

function negated(bound: Bound): Bound {
  return typeof bound === "boolean" ? !bound : sql`NOT (${bound})`;
}
