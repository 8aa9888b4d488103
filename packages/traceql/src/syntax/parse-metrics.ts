/** Parses what turns spans into series: `rate() by (name)`, `compare({ … })`, `topk(5)`, `with(…)`. */
import type {
  AttributeField,
  Hint,
  IntrinsicField,
  MetricsAggregate,
  MetricsCompare,
  MetricsOperator,
  MetricsSecondStage,
  SpansetFilter,
} from "./ast.ts";
import { parseField, parseFields, takeStatic } from "./parse-field.ts";
import type { TokenStream } from "./token-stream.ts";

const operatorsWithoutField: ReadonlySet<string> = new Set<MetricsOperator>(["rate", "count_over_time"]);
const operatorsWithField: ReadonlySet<string> = new Set<MetricsOperator>([
  "min_over_time",
  "max_over_time",
  "avg_over_time",
  "sum_over_time",
  "quantile_over_time",
  "histogram_over_time",
]);
export const metricsWords: readonly string[] = [...operatorsWithoutField, ...operatorsWithField, "compare"];

/** A metrics function if one comes next. */
export function takeMetricsStage(
  tokens: TokenStream,
  parseFilter: (tokens: TokenStream) => SpansetFilter,
): MetricsAggregate | MetricsCompare | undefined {
  const token = tokens.peek();
  if (token.kind !== "word" || !tokens.isSign("(", 1)) return undefined;
  if (token.text === "compare") return parseCompare(tokens, parseFilter);
  const hasField = operatorsWithField.has(token.text);
  if (!hasField && !operatorsWithoutField.has(token.text)) return undefined;
  tokens.next();
  tokens.expectSign("(");
  const operator = token.text as MetricsOperator;
  const field = hasField ? parseField(tokens) : null;
  const quantiles = operator === "quantile_over_time" ? parseQuantiles(tokens) : [];
  tokens.expectSign(")");
  const by = parseBy(tokens);
  return { kind: "metrics-aggregate", operator, field, quantiles, by, at: { start: token.start, end: tokens.lastEnd } };
}

function parseBy(tokens: TokenStream): readonly (AttributeField | IntrinsicField)[] {
  if (!tokens.isWord("by")) return [];
  tokens.next();
  return parseFields(tokens);
}

function parseQuantiles(tokens: TokenStream): readonly number[] {
  const quantiles: number[] = [];
  while (quantiles.length === 0 || tokens.isSign(",")) {
    tokens.expectSign(",");
    const token = tokens.peek();
    if (token.kind !== "float" && token.kind !== "int") throw tokens.unexpected("a number between 0 and 1");
    tokens.next();
    quantiles.push(Number(token.value));
  }
  return quantiles;
}

function parseInt64(tokens: TokenStream): bigint {
  const token = tokens.peek();
  if (token.kind !== "int") throw tokens.unexpected("an integer");
  tokens.next();
  return token.value;
}

function parseCompare(tokens: TokenStream, parseFilter: (tokens: TokenStream) => SpansetFilter): MetricsCompare {
  const { start } = tokens.next();
  tokens.expectSign("(");
  const selection = parseFilter(tokens);
  let topN = 10;
  let startUnixNano: bigint | null = null;
  let endUnixNano: bigint | null = null;
  if (tokens.takeSign(",")) {
    topN = Number(parseInt64(tokens));
    if (tokens.takeSign(",")) {
      startUnixNano = parseInt64(tokens);
      tokens.expectSign(",");
      endUnixNano = parseInt64(tokens);
    }
  }
  tokens.expectSign(")");
  return { kind: "metrics-compare", selection, topN, startUnixNano, endUnixNano, at: { start, end: tokens.lastEnd } };
}

/** `topk(5)` or `bottomk(5)`. */
export function parseChoice(tokens: TokenStream): MetricsSecondStage {
  const token = tokens.peek();
  if (token.kind !== "word" || (token.text !== "topk" && token.text !== "bottomk")) {
    throw tokens.unexpected('"topk" or "bottomk"', ["topk", "bottomk"]);
  }
  tokens.next();
  tokens.expectSign("(");
  const count = Number(parseInt64(tokens));
  tokens.expectSign(")");
  return { kind: "metrics-choice", operator: token.text, count, at: { start: token.start, end: tokens.lastEnd } };
}

/** `with(name=value, …)`, any number of times; the last one counts. */
export function parseHints(tokens: TokenStream): readonly Hint[] {
  let hints: Hint[] = [];
  while (tokens.isWord("with")) {
    tokens.nextOperator();
    tokens.expectSign("(");
    hints = [parseHint(tokens)];
    while (tokens.takeSign(",")) hints.push(parseHint(tokens));
    tokens.expectSign(")");
  }
  return hints;
}

function parseHint(tokens: TokenStream): Hint {
  const token = tokens.peek();
  if (token.kind !== "word" || token.text.endsWith(":")) throw tokens.unexpected("the name of a hint");
  tokens.next();
  tokens.expectSign("=");
  const value = takeStatic(tokens);
  if (value === undefined) throw tokens.unexpected("a value");
  return { name: token.text, value: value.value };
}
