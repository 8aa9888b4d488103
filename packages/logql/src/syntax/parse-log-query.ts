/** Stream selectors with their pipelines, and ranges over them. */
import type {
  LabelFilterStage,
  LabelMatcher,
  LineFilter,
  LineFilterOperand,
  LineFilterOperator,
  LogQuery,
  RangeAggregation,
  Stage,
  Unwrap,
} from "./ast.ts";
import { parseLabelFilter } from "./parse-label-filter.ts";
import { parseMatcher } from "./parse-matcher.ts";
import { parseStage } from "./parse-stage.ts";
import type { TokenStream } from "./token-stream.ts";
import { unwrapConversions } from "./token.ts";

/** A selector, whose brace comes next, and its stages. */
export function parseLogQuery(stream: TokenStream): LogQuery {
  const start = stream.peek();
  const matchers = parseSelector(stream);
  const stages = parseStages(stream);
  return logQuery(stream, { matchers, stages, start });
}

function logQuery(
  stream: TokenStream,
  parts: { matchers: readonly LabelMatcher[]; stages: readonly Stage[]; start: { start: number; end: number } },
): LogQuery {
  const { matchers, stages, start } = parts;
  return Object.freeze({ kind: "log-query", matchers, stages: Object.freeze(stages), at: stream.rangeFrom(start) });
}

function parseSelector(stream: TokenStream): readonly LabelMatcher[] {
  stream.expect("{");
  const matchers: LabelMatcher[] = [];
  if (stream.takeIf("}")) return Object.freeze(matchers);
  do matchers.push(parseMatcher(stream));
  while (stream.takeIf(","));
  stream.expect("}", ", or }");
  return Object.freeze(matchers);
}

const lineFilterOperators: ReadonlySet<string> = new Set(["|=", "!=", "|~", "!~", "|>", "!>"]);

/** The stages that come next, up to `unwrap`. */
function parseStages(stream: TokenStream): readonly Stage[] {
  const stages: Stage[] = [];
  for (;;) {
    if (stream.peek().kind === "sign" && lineFilterOperators.has(stream.peek().text)) {
      stages.push(...parseLineFilter(stream));
    } else if (stream.isNext("|") && !stream.isNext("unwrap", 1)) {
      stream.countOperator();
      const start = stream.next();
      stages.push(parseStage(stream, start));
    } else return stages;
  }
}

/** One filter, or one for each alternative of a negative operator: "neither a nor b" is "not a, and not b". */
function parseLineFilter(stream: TokenStream): readonly LineFilter[] {
  const token = stream.next();
  const operator = token.text as LineFilterOperator;
  const operands: LineFilterOperand[] = [];
  do {
    stream.countOperator();
    operands.push(parseLineFilterOperand(stream));
  } while (stream.takeIf("or"));
  const at = stream.rangeFrom(token);
  const groups = operator.startsWith("!") ? operands.map((operand) => [operand]) : [operands];
  return groups.map((group) => Object.freeze({ kind: "line-filter", operator, operands: Object.freeze(group), at }));
}

function parseLineFilterOperand(stream: TokenStream): LineFilterOperand {
  if (stream.peek().kind === "string") return Object.freeze({ kind: "text", value: stream.next().text });
  const { kind, text } = stream.peek();
  if (kind !== "function" || text !== "ip") throw stream.unexpected("STRING or ip");
  stream.next();
  stream.expect("(");
  const value = stream.expectKind("string").text;
  stream.expect(")");
  return Object.freeze({ kind: "ip", value });
}

/** `unwrap` and the label filters behind it; null if it does not come next. */
function parseUnwrap(stream: TokenStream): Unwrap | null {
  if (!stream.isNext("|") || !stream.isNext("unwrap", 1)) return null;
  stream.countOperator();
  const start = stream.next();
  stream.next();
  const conversion = unwrapConversions.find((name) => isFunction(stream, name)) ?? null;
  if (conversion !== null) {
    stream.next();
    stream.expect("(");
  }
  const label = stream.expectKind("identifier").text;
  if (conversion !== null) stream.expect(")");
  const filters: LabelFilterStage[] = [];
  while (stream.isNext("|")) {
    stream.countOperator();
    const pipe = stream.next();
    if (stream.peek().kind === "keyword")
      throw stream.unexpected("a label filter: only label filters may follow unwrap");
    filters.push(Object.freeze({ kind: "label-filter", filter: parseLabelFilter(stream), at: stream.rangeFrom(pipe) }));
  }
  return Object.freeze({ label, conversion, filters: Object.freeze(filters), at: stream.rangeFrom(start) });
}

function isFunction(stream: TokenStream, name: string): boolean {
  const { kind, text } = stream.peek();
  return kind === "function" && text === name;
}

type LogRange = Pick<RangeAggregation, "query" | "unwrap" | "rangeMs" | "offsetMs">;

/**
 * A log query and its range. The range is behind the pipeline, or between the selector and the pipeline; parentheses may be
 * around the query, or around query and range.
 */
export function parseLogRange(stream: TokenStream): LogRange {
  if (!stream.isNext("(")) return parseBareRange(stream, false);
  stream.next();
  if (!stream.isNext("(")) return parseBareRange(stream, true);
  const range = stream.nested(() => parseLogRange(stream));
  stream.expect(")");
  return range;
}

/** @param inside whether a parenthesis was opened: it is closed before or after the range */
function parseBareRange(stream: TokenStream, inside: boolean): LogRange {
  const start = stream.peek();
  if (!stream.isNext("{")) throw stream.unexpected("a stream selector in braces");
  const matchers = parseSelector(stream);
  if (stream.peek().kind === "range") {
    const times = parseTimes(stream);
    const stages = parseStages(stream);
    const query = logQuery(stream, { matchers, stages, start });
    const unwrap = parseUnwrap(stream);
    if (inside) stream.expect(")");
    return { query, unwrap, ...times };
  }
  const stages = parseStages(stream);
  const query = logQuery(stream, { matchers, stages, start });
  let unwrap = parseUnwrap(stream);
  const closesFirst = inside && stream.takeIf(")");
  if (stream.peek().kind !== "range") throw stream.unexpected("RANGE, such as [5m]");
  const times = parseTimes(stream);
  if (closesFirst && stages.length === 0) unwrap ??= parseUnwrap(stream);
  if (inside && !closesFirst) stream.expect(")");
  return { query, unwrap, ...times };
}

function parseTimes(stream: TokenStream): Pick<LogRange, "rangeMs" | "offsetMs"> {
  const rangeMs = stream.expectKind("range").value;
  const offsetMs = stream.takeIf("offset") ? stream.expectKind("duration").value / 1e6 : 0;
  return { rangeMs, offsetMs };
}
