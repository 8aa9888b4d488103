/** Conditions of the store for matchers of labels of spans. */
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { wordList } from "@sounding/promql/regex/word-list";
import { bind, sql, type Statement } from "../../../store/statement.ts";
import { storeExpression } from "../../store-expression.ts";

export interface SpanMatcher extends LabelMatcher {
  /** The values that the regular expression matches, if the store does not find them itself (matching-values.ts). */
  readonly matchingValues?: readonly string[] | undefined;
}

export function labelCondition(label: Statement, { matchingValues, operator, value }: SpanMatcher): Statement {
  switch (operator) {
    case "=":
      return sql`(${label}) = ${bind.text(value)}`;
    case "!=":
      return sql`(${label}) != ${bind.text(value)}`;
    default: {
      const words = matchingValues ?? wordList(value);
      // ClickHouse uses RE2 like Prometheus; `s` lets a dot match a newline, as in Prometheus.
      const matches =
        words === undefined
          ? sql`match(${label}, ${bind.text(`^(?s:${value})$`)})`
          : sql`toString(${label}) IN ${bind.texts([...words])}`;
      return operator === "=~" ? matches : sql`NOT ${matches}`;
    }
  }
}

/** Whether the store understands the matcher exactly as the engine does, and within bounded time. */
export function isDecidedByStore({ operator, value }: LabelMatcher): boolean {
  if (operator === "=" || operator === "!=") return true;
  return wordList(value) !== undefined || storeExpression(value) !== undefined;
}
