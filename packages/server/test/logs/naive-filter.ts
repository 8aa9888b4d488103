/** Evaluates matchers and line filters row by row in the plainest way, to compare the store's answers with. */
import type { LabelMatcher, LineFilter, LineFilterOperand } from "@sounding/logql/syntax/ast";
import type { ExpectedEntry } from "./random-records.ts";

type Entry = Pick<ExpectedEntry, "labels" | "line" | "metadata">;

export function matches({ operator, value: wanted }: LabelMatcher, value: string): boolean {
  switch (operator) {
    case "=":
      return value === wanted;
    case "!=":
      return value !== wanted;
    case "=~":
      return anchored(wanted).test(value);
    default:
      return !anchored(wanted).test(value);
  }
}

function anchored(expression: string): RegExp {
  return toRegExp(expression, (text) => `^(?:${text})$`);
}

/** JavaScript has no flags within an expression. */
function toRegExp(expression: string, wrap: (text: string) => string): RegExp {
  const ignoresCase = expression.startsWith("(?i)");
  return new RegExp(wrap(ignoresCase ? expression.slice(4) : expression), ignoresCase ? "sui" : "su");
}

export function matchesStream(matchers: readonly LabelMatcher[], { labels }: Entry): boolean {
  return matchers.every((matcher) => matches(matcher, labels[matcher.name] ?? ""));
}

export function matchesMetadata(matchers: readonly LabelMatcher[], { labels, metadata }: Entry): boolean {
  return matchers.every((matcher) => matches(matcher, labels[matcher.name] ?? metadata[matcher.name] ?? ""));
}

export function passes({ operands, operator }: LineFilter, { line }: Entry): boolean {
  const found = operands.some((operand) => contains(operator, operand, line));
  return operator.startsWith("!") ? !found : found;
}

function contains(operator: LineFilter["operator"], { kind, value }: LineFilterOperand, line: string): boolean {
  if (kind === "ip") return line.includes(value);
  if (operator === "|=" || operator === "!=") return line.includes(value);
  // As in Go, a dot matches no newline.
  if (operator === "|~" || operator === "!~") {
    const expression = value.replaceAll(/(?<!\\)\.(?![^[]*\])/g, "[^\\n]");
    return toRegExp(expression, (text) => text).test(line);
  }
  const parts = value.split("<_>").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(parts.join(".+"), "su").test(line);
}
