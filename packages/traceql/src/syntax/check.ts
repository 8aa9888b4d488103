/** Checks a query's tree as Tempo does before it evaluates it: types, arguments, and what is not supported. */
import type {
  Aggregate,
  GroupBy,
  MetricsAggregate,
  MetricsCompare,
  MetricsExpression,
  PipelineStage,
  ScalarExpression,
  ScalarFilter,
  SpansetFilter,
  TraceqlQuery,
} from "./ast.ts";
import { checkField, checkFieldExpression, unsupported } from "./check-field.ts";
import { invalidQuery } from "./parse-error.ts";
import { printFieldExpression } from "./print-field.ts";
import { printScalar, printStage } from "./print.ts";
import { RegexChecker } from "./regex-checker.ts";
import { acceptsType, areComparable, isNumeric, readsSpan, typeOfField, typeOfScalar } from "./field-types.ts";

/** Fields after `by`; quantiles, histograms and averages need one of them for themselves. */
const mostGroupFields = 5;
const mostComparedValues = 1000;

/** Throws a QueryError `invalid_request` if the query means nothing. */
export function checkQuery(query: TraceqlQuery): void {
  const regexes = new RegexChecker();
  if (query.kind === "search-query") checkStages(query.stages, regexes);
  else checkMetrics(query.expression, regexes, false);
}

function checkStages(stages: readonly PipelineStage[], regexes: RegexChecker): void {
  for (const stage of stages) checkStage(stage, regexes);
}

function checkStage(stage: PipelineStage, regexes: RegexChecker): void {
  switch (stage.kind) {
    case "spanset-filter":
      return checkFilter(stage, regexes);
    case "spanset-operation":
      checkStage(stage.left, regexes);
      return checkStage(stage.right, regexes);
    case "nested-pipeline":
      return checkStages(stage.stages, regexes);
    case "scalar-filter":
      return checkScalarFilter(stage, regexes);
    case "group-by":
      return checkGroupBy(stage, regexes);
    case "coalesce":
      return;
    case "select":
      return stage.fields.forEach(checkField);
  }
}

function checkFilter(filter: SpansetFilter, regexes: RegexChecker): void {
  if (filter.condition === null) return;
  checkFieldExpression(filter.condition, regexes);
  const type = typeOfField(filter.condition);
  if (type === "attribute" || type === "boolean") return;
  throw invalidQuery(`span filter field expressions must resolve to a boolean: ${printStage(filter)}`);
}

function checkGroupBy(stage: GroupBy, regexes: RegexChecker): void {
  if (!readsSpan(stage.expression)) {
    throw invalidQuery(`grouping field expressions must reference the span: ${printStage(stage)}`);
  }
  checkFieldExpression(stage.expression, regexes);
}

function checkScalarFilter(filter: ScalarFilter, regexes: RegexChecker): void {
  checkScalar(filter.left, regexes);
  checkScalar(filter.right, regexes);
  checkScalarTypes(filter, printStage(filter));
  if (filter.left.kind !== "aggregate") throw unsupported("scalar filter with anything but an aggregate on its left");
  if (filter.right.kind !== "static") throw unsupported("scalar filter with anything but a number on its right");
}

function checkScalar(expression: ScalarExpression, regexes: RegexChecker): void {
  switch (expression.kind) {
    case "static":
      return;
    case "aggregate":
      return checkAggregate(expression, regexes);
    case "scalar-pipeline":
      checkStages(expression.stages, regexes);
      return checkScalar(expression.scalar, regexes);
    case "scalar-operation":
      checkScalar(expression.left, regexes);
      checkScalar(expression.right, regexes);
      return checkScalarTypes(expression, printScalar(expression));
  }
}

function checkScalarTypes(
  {
    left,
    operator,
    right,
  }: Pick<ScalarFilter, "left" | "right"> & { readonly operator: Parameters<typeof acceptsType>[0] },
  printed: string,
): void {
  const types = [typeOfScalar(left), typeOfScalar(right)] as const;
  if (!areComparable(...types)) {
    throw invalidQuery(`binary operations must operate on the same type: ${printed}`);
  }
  if (!types.every((type) => acceptsType(operator, type))) {
    throw invalidQuery(`illegal operation for the given types: ${printed}`);
  }
}

function checkAggregate({ expression, operator }: Aggregate, regexes: RegexChecker): void {
  if (expression === null) return;
  checkFieldExpression(expression, regexes);
  const printed = `${operator}(${printFieldExpression(expression)})`;
  const type = typeOfField(expression);
  if (type !== "attribute" && !isNumeric(type)) {
    throw invalidQuery(`aggregate field expressions must resolve to a number type: ${printed}`);
  }
  if (!readsSpan(expression)) {
    throw invalidQuery(`aggregate field expressions must reference the span: ${printed}`);
  }
}

function checkMetrics(expression: MetricsExpression, regexes: RegexChecker, isInOperation: boolean): void {
  if (expression.kind === "metrics-operation") {
    checkMetrics(expression.left, regexes, true);
    checkMetrics(expression.right, regexes, true);
  } else {
    checkStages(expression.stages, regexes);
    const { aggregate } = expression;
    if (aggregate.kind === "metrics-aggregate") {
      checkMetricsAggregate(aggregate);
    } else {
      checkCompare(aggregate, regexes);
      if (isInOperation || expression.secondStages.length > 0) {
        throw invalidQuery("compare() cannot be used with second stage functions or arithmetic");
      }
    }
  }
  for (const stage of expression.secondStages) {
    if (stage.kind === "metrics-choice" && stage.count <= 0) {
      throw invalidQuery(`the limit of ${stage.operator}() must be greater than 0`);
    }
  }
}

function checkMetricsAggregate({ by, field, operator, quantiles }: MetricsAggregate): void {
  for (const each of [...by, ...(field === null ? [] : [field])]) checkField(each);
  const needsOneMore = ["histogram_over_time", "quantile_over_time", "avg_over_time"].includes(operator);
  if (by.length > mostGroupFields - (needsOneMore ? 1 : 0)) throw unsupported(`metrics group by ${by.length} values`);
  const wrong = quantiles.find((quantile) => quantile > 1);
  if (wrong !== undefined) throw invalidQuery(`quantile must be between 0 and 1: ${wrong}`);
}

function checkCompare({ endUnixNano, selection, startUnixNano, topN }: MetricsCompare, regexes: RegexChecker): void {
  checkFilter(selection, regexes);
  if (topN <= 0 || topN > mostComparedValues) {
    throw invalidQuery(
      `compare() top number of values must be an integer between 1 and ${mostComparedValues}, got ${topN}`,
    );
  }
  if (startUnixNano === null || endUnixNano === null || (startUnixNano === 0n && endUnixNano === 0n)) return;
  if (startUnixNano <= 0n || endUnixNano <= 0n) {
    throw invalidQuery("compare() timestamps must be positive integer unix nanoseconds");
  }
  if (endUnixNano <= startUnixNano) {
    throw invalidQuery("compare() end timestamp must be greater than start timestamp");
  }
}
