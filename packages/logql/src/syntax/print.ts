/**
 * The printer: a tree to a query on one line that parses to the same tree, in the layout that Loki prints. Every string is
 * quoted, so no value can change a query's structure.
 */
import { formatGeneral, formatPlain } from "@sounding/promql/syntax/number-literal";
import { quoteString } from "@sounding/promql/syntax/string-literal";
import type {
  BinaryExpression,
  Grouping,
  LogqlExpression,
  LogQuery,
  RangeAggregation,
  VectorAggregation,
  VectorMatching,
} from "./ast.ts";
import { printSelector, printStage, printUnwrap } from "./print-pipeline.ts";
import { formatMilliseconds, formatNanoseconds } from "./quantity.ts";

/** The query's text. */
export function printLogql(expression: LogqlExpression): string {
  switch (expression.kind) {
    case "log-query":
      return printLogQuery(expression);
    case "range-aggregation":
      return printRangeAggregation(expression);
    case "vector-aggregation":
      return printVectorAggregation(expression);
    case "binary": {
      const right = printLogql(expression.right);
      return `(${printLogql(expression.left)} ${printOperator(expression, ",", right)} ${right})`;
    }
    case "label-replace": {
      const { destination, regularExpression, replacement, source } = expression;
      const strings = [destination, replacement, source, regularExpression].map(quoteString);
      return `label_replace(${printLogql(expression.expression)},${strings.join(",")})`;
    }
    case "vector": {
      const { value } = expression;
      return `vector(${Number(value.toFixed(6)) === value ? value.toFixed(6) : formatPlain(value)})`;
    }
    case "number":
      return printNumber(expression.value);
  }
}

/** A number; what has no literal is computed from those that have one. */
export function printNumber(value: number): string {
  if (Number.isNaN(value)) return "(0 / 0)";
  if (Math.abs(value) === Infinity) return `(${value < 0 ? "-" : ""}1e+308 * 10)`;
  return formatGeneral(value);
}

function printLogQuery({ matchers, stages }: LogQuery): string {
  return [printSelector(matchers), ...stages.map(printStage)].join(" ");
}

function printRangeAggregation({ grouping, offsetMs, operator, parameter, ...node }: RangeAggregation): string {
  const prefix = parameter === null ? "" : `${formatPlain(parameter)},`;
  const unwrap = node.unwrap === null ? "" : ` ${printUnwrap(node.unwrap).join(" ")}`;
  const offset = offsetMs === 0 ? "" : ` offset ${formatNanoseconds(offsetMs * 1e6)}`;
  const range = `${printLogQuery(node.query)}${unwrap}[${formatMilliseconds(node.rangeMs)}]${offset}`;
  return `${operator}(${prefix}${range})${printGrouping(grouping, ",")}`;
}

function printVectorAggregation({ expression, grouping, operator, parameter }: VectorAggregation): string {
  const prefix = parameter === null ? "" : `${parameter},`;
  return `${operator}${printGrouping(grouping, ",")}(${prefix}${printLogql(expression)})`;
}

/** ` by (a,b)`, with a space before it; nothing without a grouping. */
export function printGrouping(grouping: Grouping | null, separator: "," | ", "): string {
  if (grouping === null) return "";
  return ` ${grouping.without ? "without" : "by"} (${grouping.labels.join(separator)})`;
}

/** A binary operator with its modifiers; `right` is the text that follows. */
export function printOperator(binary: BinaryExpression, separator: "," | ", ", right: string): string {
  const bool = binary.returnBool ? " bool" : "";
  return `${binary.operator}${bool}${binary.matching === null ? "" : printMatching(binary.matching, separator, right)}`;
}

function printMatching(matching: VectorMatching, separator: "," | ", ", right: string): string {
  const { cardinality, include, labels, on } = matching;
  const isGrouped = cardinality === "many-to-one" || cardinality === "one-to-many";
  if (!on && labels.length === 0 && !isGrouped) return "";
  // Parentheses behind the word would be read as its labels.
  const needsList = include.length > 0 || right.trimStart().startsWith("(");
  const list = needsList ? ` (${include.join(separator)})` : "";
  const group = isGrouped ? `group_${cardinality === "many-to-one" ? "left" : "right"}${list}` : "";
  // Loki prints the space before a group that is missing, too.
  return ` ${on ? "on" : "ignoring"} (${labels.join(separator)}) ${group}`;
}
