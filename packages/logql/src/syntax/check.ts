/** What a query must not be although its syntax is right: Loki refuses the same before it evaluates anything. */
import type { SourceRange } from "@sounding/promql/syntax/source-range";
import { compileMatcher } from "@sounding/promql/series/matcher";
import { compileExpression } from "@sounding/promql/regex/regular-expression";
import {
  isLogQuery,
  type BinaryExpression,
  type LabelMatcher,
  type LogqlExpression,
  type LogQuery,
  type MetricExpression,
  type RangeAggregation,
  type RangeOperator,
  type VectorAggregation,
} from "./ast.ts";
import { everyMetric } from "./children.ts";
import { matchersOfStage, matchersOfUnwrap } from "./matchers-of.ts";
import { parseError } from "./parse-error.ts";

type Fail = (at: SourceRange, problem: string) => never;

/** Throws a QueryError `invalid_request` with the place of the first problem; `text` is what the positions refer to. */
export function checkQuery(expression: LogqlExpression, text: string): void {
  const fail: Fail = (at, problem) => {
    throw parseError(text, at, problem);
  };
  if (isLogQuery(expression)) return checkLogQuery(expression, fail);
  for (const node of everyMetric(expression)) checkMetric(node, fail);
}

function checkMetric(node: MetricExpression, fail: Fail): void {
  switch (node.kind) {
    case "range-aggregation":
      return checkRangeAggregation(node, fail);
    case "vector-aggregation":
      return checkVectorAggregation(node, fail);
    case "binary":
      return checkBinary(node, fail);
    case "label-replace": {
      const compiled = compileExpression(node.regularExpression);
      if ("problem" in compiled) fail(node.at, `invalid regex in label_replace: ${compiled.problem}`);
      return;
    }
    case "vector":
    case "number":
      return;
  }
}

function checkLogQuery(query: LogQuery, fail: Fail): void {
  checkMatchers(query.matchers, query.at, fail);
  const selects = query.matchers.some((matcher) => {
    const compiled = compileMatcher(matcher);
    return "matches" in compiled && !compiled.matchesEmpty;
  });
  if (!selects) {
    fail(
      query.at,
      'a stream selector needs at least one matcher that does not match the empty value: app=~".+" is one, app=~".*" is not',
    );
  }
  for (const stage of query.stages) {
    checkMatchers(matchersOfStage(stage), stage.at, fail);
    if (stage.kind === "label-format") checkAssignments(stage.assignments, stage.at, fail);
  }
}

function checkMatchers(matchers: readonly LabelMatcher[], at: SourceRange, fail: Fail): void {
  for (const matcher of matchers) {
    const compiled = compileMatcher(matcher);
    if ("problem" in compiled) fail(at, compiled.problem);
  }
}

function checkAssignments(assignments: readonly { readonly label: string }[], at: SourceRange, fail: Fail): void {
  const seen = new Set<string>();
  for (const { label } of assignments) {
    if (label === "__error__") fail(at, "label_format cannot set __error__");
    if (seen.has(label)) fail(at, `label_format sets ${label} twice: use one stage for each value`);
    seen.add(label);
  }
}

/** What a range aggregation reads: lines, or numbers that `unwrap` takes from labels. */
const inputs: Readonly<Record<RangeOperator, "lines" | "numbers" | "both">> = {
  count_over_time: "lines",
  bytes_over_time: "lines",
  bytes_rate: "lines",
  rate: "both",
  absent_over_time: "both",
  rate_counter: "numbers",
  sum_over_time: "numbers",
  avg_over_time: "numbers",
  min_over_time: "numbers",
  max_over_time: "numbers",
  first_over_time: "numbers",
  last_over_time: "numbers",
  stddev_over_time: "numbers",
  stdvar_over_time: "numbers",
  quantile_over_time: "numbers",
};

/** Those that allow `by` and `without`. */
const groupable: ReadonlySet<RangeOperator> = new Set([
  "avg_over_time",
  "min_over_time",
  "max_over_time",
  "first_over_time",
  "last_over_time",
  "stddev_over_time",
  "stdvar_over_time",
  "quantile_over_time",
]);

function checkRangeAggregation(node: RangeAggregation, fail: Fail): void {
  const { at, grouping, operator, parameter, unwrap } = node;
  if (operator === "quantile_over_time") {
    if (parameter === null) fail(at, `${operator} needs a number before the query: ${operator}(0.99, …)`);
  } else if (parameter !== null) fail(at, `${operator} takes no parameter, the query has ${parameter}`);
  if (grouping !== null && !groupable.has(operator)) {
    fail(at, `grouping not allowed for ${operator} aggregation: put it into a sum by (…) around it`);
  }
  const input = inputs[operator];
  if (unwrap !== null && input === "lines") fail(at, `invalid aggregation ${operator} with unwrap`);
  if (unwrap === null && input === "numbers") {
    fail(at, `invalid aggregation ${operator} without unwrap: add | unwrap LABEL to the query`);
  }
  checkLogQuery(node.query, fail);
  if (unwrap !== null) checkMatchers(matchersOfUnwrap(unwrap), unwrap.at, fail);
}

function checkVectorAggregation({ at, grouping, operator, parameter }: VectorAggregation, fail: Fail): void {
  const takesParameter = operator === "topk" || operator === "bottomk" || operator === "approx_topk";
  if (!takesParameter) {
    if (parameter !== null) fail(at, `${operator} takes no parameter, the query has ${parameter}`);
  } else if (parameter === null) {
    fail(at, `parameter required for operation ${operator}: ${operator}(10, …)`);
  } else if (!Number.isSafeInteger(parameter) || parameter <= 0) {
    fail(at, `invalid parameter ${parameter} of ${operator}: it must be a whole number greater than 0`);
  }
  if (grouping === null) return;
  if (operator === "approx_topk") fail(at, `grouping not allowed for ${operator} aggregation`);
  const isSort = operator === "sort" || operator === "sort_desc";
  if (isSort && grouping.labels.length > 0) fail(at, `grouping not allowed for ${operator}`);
}

function checkBinary({ at, left, operator, right }: BinaryExpression, fail: Fail): void {
  if (operator !== "and" && operator !== "or" && operator !== "unless") return;
  for (const [side, operand] of [
    ["left", left],
    ["right", right],
  ] as const) {
    if (operand.kind !== "number") continue;
    const problem = `unexpected literal for ${side} leg of logical/set binary operation (${operator})`;
    fail(at, `${problem}: use vector(${operand.value})`);
  }
}
