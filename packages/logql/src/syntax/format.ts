/**
 * Formats a query over several lines, in Loki's layout: what is longer than 100 bytes is split, each stage and each argument on
 * a line of its own. Unlike Loki, it keeps parentheses that a split operator needs, and all alternatives of a line filter.
 * https://grafana.com/docs/loki/latest/reference/loki-http-api/#format-a-logql-query
 */
import { formatGeneral } from "@sounding/promql/syntax/number-literal";
import { quoteString } from "@sounding/promql/syntax/string-literal";
import {
  isLogQuery,
  type BinaryExpression,
  type LineFilter,
  type LogqlExpression,
  type LogQuery,
  type MetricExpression,
  type RangeAggregation,
  type Stage,
} from "./ast.ts";
import { printSelector, printStage, printUnwrap } from "./print-pipeline.ts";
import { printGrouping, printLogql, printOperator } from "./print.ts";
import { formatMilliseconds } from "./quantity.ts";
import { powerStrength, strengthOf } from "./token.ts";

/** The query in a readable form. */
export function formatLogql(expression: LogqlExpression): string {
  return isLogQuery(expression) ? formatLogQuery(expression, 0) : formatMetric(expression, 0);
}

const longestLineBytes = 100;

function isLong(text: string): boolean {
  return Buffer.byteLength(text) > longestLineBytes;
}

function indent(level: number, text: string): string {
  return `${"  ".repeat(level)}${text}`;
}

function formatLogQuery(query: LogQuery, level: number): string {
  const line = printLogql(query);
  if (query.stages.length === 0 || !isLong(line)) return indent(level, line);
  return [indent(level, printSelector(query.matchers)), ...formatStages(query.stages, level + 1)].join("\n");
}

/** Line filters that follow each other share a line as long as they fit. */
function formatStages(stages: readonly Stage[], level: number): readonly string[] {
  const lines: string[] = [];
  let filters: LineFilter[] = [];
  for (const stage of [...stages, null]) {
    if (stage?.kind === "line-filter") {
      filters.push(stage);
      continue;
    }
    lines.push(...formatLineFilters(filters, level));
    filters = [];
    if (stage !== null) lines.push(indent(level, printStage(stage)));
  }
  return lines;
}

function formatLineFilters(filters: readonly LineFilter[], level: number): readonly string[] {
  const printed = filters.map(printStage);
  // The first filters that fit share the first line; each of the rest has its own.
  let shared = printed.length;
  while (shared > 1 && isLong(printed.slice(0, shared).join(" "))) shared--;
  if (shared === 0) return [];
  return [printed.slice(0, shared).join(" "), ...printed.slice(shared)].map((text) => indent(level, text));
}

function formatMetric(expression: MetricExpression, level: number): string {
  const line = printLogql(expression);
  if (!isLong(line)) return indent(level, line);
  switch (expression.kind) {
    case "range-aggregation":
      return formatRangeAggregation(expression, level);
    case "vector-aggregation": {
      const { grouping, operator, parameter } = expression;
      const inner = formatMetric(expression.expression, level + 1);
      const lines = parameter === null ? [inner] : [indent(level + 1, `${parameter},`), inner];
      return call(`${operator}${printGrouping(grouping, ", ")}`, lines, level);
    }
    case "label-replace": {
      const { destination, regularExpression, replacement, source } = expression;
      const strings = [destination, replacement, source, regularExpression];
      const inner = formatMetric(expression.expression, level + 1);
      const lines = [inner, ...strings.map((text) => indent(level + 1, quoteString(text)))];
      return call("label_replace", [lines.join(",\n")], level);
    }
    case "binary":
      return formatBinary(expression, level);
    case "vector":
    case "number":
      return indent(level, line);
  }
}

function call(name: string, lines: readonly string[], level: number): string {
  return [indent(level, `${name}(`), ...lines, indent(level, ")")].join("\n");
}

function formatRangeAggregation(node: RangeAggregation, level: number): string {
  const { grouping, offsetMs, operator, parameter, rangeMs, unwrap } = node;
  const lines = parameter === null ? [] : [indent(level + 1, `${formatGeneral(parameter)},`)];
  lines.push(formatLogQuery(node.query, level + 1));
  if (unwrap !== null) lines.push(...printUnwrap(unwrap).map((text) => indent(level + 2, text)));
  const offset = offsetMs === 0 ? "" : ` offset ${formatMilliseconds(offsetMs)}`;
  lines.push(`${lines.pop()!} [${formatMilliseconds(rangeMs)}]${offset}`);
  return `${call(operator, lines, level)}${printGrouping(grouping, ", ")}`;
}

function formatBinary(binary: BinaryExpression, level: number): string {
  const strength = strengthOf.get(binary.operator)!;
  const isPower = strength === powerStrength;
  const right = formatOperand(binary.right, isPower ? strength : strength + 1, level + 1);
  return [
    formatOperand(binary.left, isPower ? strength + 1 : strength, level + 1),
    indent(level, printOperator(binary, ", ", right)),
    right,
  ].join("\n");
}

function formatOperand(operand: MetricExpression, minimum: number, level: number): string {
  const isSplit = operand.kind === "binary" && isLong(printLogql(operand));
  if (!isSplit || strengthOf.get(operand.operator)! >= minimum) return formatMetric(operand, level);
  return call("", [formatMetric(operand, level + 1)], level);
}
