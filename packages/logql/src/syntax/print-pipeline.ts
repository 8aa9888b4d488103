/** Prints stream selectors, stages and label filters on one line, in Loki's layout. */
import { formatPlain } from "@sounding/promql/syntax/number-literal";
import { quoteString } from "@sounding/promql/syntax/string-literal";
import type { Extraction, LabelFilter, LabelMatcher, LineFilter, Stage, Unwrap } from "./ast.ts";
import { formatBytes, formatNanoseconds } from "./quantity.ts";

export function printSelector(matchers: readonly LabelMatcher[]): string {
  return `{${matchers.map(printMatcher).join(", ")}}`;
}

function printMatcher({ name, operator, value }: LabelMatcher): string {
  return `${name}${operator}${quoteString(value)}`;
}

/** A stage with its pipe. */
export function printStage(stage: Stage): string {
  switch (stage.kind) {
    case "line-filter":
      return printLineFilter(stage);
    case "json":
      return withList("| json", printExtractions(stage.extractions));
    case "logfmt": {
      const flags = `${stage.strict ? " --strict" : ""}${stage.keepEmpty ? " --keep-empty" : ""}`;
      return withList(`| logfmt${flags}`, printExtractions(stage.extractions));
    }
    case "regexp":
      return `| regexp ${quoteString(stage.expression)}`;
    case "pattern":
      return `| pattern ${quoteString(stage.pattern)}`;
    case "unpack":
    case "decolorize":
      return `| ${stage.kind}`;
    case "label-filter":
      return `| ${printLabelFilter(stage.filter)}`;
    case "line-format":
      return `| line_format ${quoteString(stage.template)}`;
    case "label-format": {
      const printed = stage.assignments.map((assignment) =>
        assignment.kind === "rename"
          ? `${assignment.label}=${assignment.from}`
          : `${assignment.label}=${quoteString(assignment.template)}`,
      );
      return `| label_format ${printed.join(",")}`;
    }
    case "drop":
    case "keep": {
      const printed = stage.labels.map((label) => (label.kind === "name" ? label.name : printMatcher(label.matcher)));
      return `| ${stage.kind} ${printed.join(",")}`;
    }
  }
}

function withList(stage: string, list: string): string {
  return list === "" ? stage : `${stage} ${list}`;
}

function printExtractions(extractions: readonly Extraction[]): string {
  return extractions.map(({ expression, label }) => `${label}=${quoteString(expression)}`).join(",");
}

function printLineFilter({ operands, operator }: LineFilter): string {
  const printed = operands.map(({ kind, value }) => (kind === "ip" ? `ip(${quoteString(value)})` : quoteString(value)));
  return `${operator} ${printed.join(" or ")}`;
}

function printLabelFilter(filter: LabelFilter): string {
  switch (filter.kind) {
    case "matcher":
      return printMatcher(filter.matcher);
    case "ip":
      return `${filter.label}${filter.operator}ip(${quoteString(filter.addresses)})`;
    case "number":
      return `${filter.label}${filter.operator}${formatPlain(filter.value)}`;
    case "duration":
      return `${filter.label}${filter.operator}${formatNanoseconds(filter.nanoseconds)}`;
    case "bytes":
      return `${filter.label}${filter.operator}${formatBytes(filter.bytes)}`;
    case "and":
      return `( ${printLabelFilter(filter.left)} , ${printLabelFilter(filter.right)} )`;
    case "or":
      return `( ${printLabelFilter(filter.left)} or ${printLabelFilter(filter.right)} )`;
  }
}

/** `unwrap` and the label filters behind it, each with its pipe. */
export function printUnwrap({ conversion, filters, label }: Unwrap): readonly string[] {
  const wrapped = conversion === null ? label : `${conversion}(${label})`;
  return [`| unwrap ${wrapped}`, ...filters.map(printStage)];
}
