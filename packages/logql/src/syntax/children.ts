/** Walks through the trees of metric queries. */
import {
  isLogQuery,
  type LogqlExpression,
  type LogQuery,
  type MetricExpression,
  type RangeAggregation,
} from "./ast.ts";

/** The metric queries directly inside another one, in the order of the text. */
export function metricsIn(expression: MetricExpression): readonly MetricExpression[] {
  switch (expression.kind) {
    case "range-aggregation":
    case "vector":
    case "number":
      return [];
    case "vector-aggregation":
    case "label-replace":
      return [expression.expression];
    case "binary":
      return [expression.left, expression.right];
  }
}

/** The expression and all metric queries inside of it, in the order of the text. */
export function* everyMetric(expression: MetricExpression): Generator<MetricExpression> {
  const open: MetricExpression[] = [expression];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node;
    open.push(...metricsIn(node).toReversed());
  }
}

/** All range aggregations of a query. */
export function rangeAggregationsIn(expression: LogqlExpression): readonly RangeAggregation[] {
  if (isLogQuery(expression)) return [];
  return [...everyMetric(expression)].filter((node) => node.kind === "range-aggregation");
}

/** All log queries: the expression itself, or those of its range aggregations. */
export function logQueriesIn(expression: LogqlExpression): readonly LogQuery[] {
  return isLogQuery(expression) ? [expression] : rangeAggregationsIn(expression).map(({ query }) => query);
}
