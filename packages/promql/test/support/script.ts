/** Reads a test script into its commands. https://github.com/prometheus/prometheus/tree/main/promql/promqltest */
import { RE2JS } from "re2js";
import { parseDuration } from "../../src/syntax/duration.ts";
import { parseNumber } from "../../src/syntax/number-literal.ts";
import { unquoteString } from "../../src/syntax/string-literal.ts";
import { addCustomHistograms, type LoadedSeries } from "./custom-histograms.ts";
import { metricEnd, NotationError, parseMetric, parseSeriesLine, type SeriesLine } from "./series-notation.ts";
import { parseStartOffsets } from "./start-notation.ts";

export type ExpectationKind = "fail" | "warn" | "no_warn" | "info" | "no_info" | "ordered";

/** What an error or annotation must be: exactly a text, a match of a pattern, or anything. */
export interface Expectation {
  readonly kind: ExpectationKind;
  readonly text?: string;
  /** In RE2's syntax, found anywhere in the message. */
  readonly pattern?: RE2JS;
}

export interface EvalCommand {
  readonly kind: "eval";
  readonly line: number;
  readonly expression: string;
  readonly isRange: boolean;
  /** For an instant query both are the same. */
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
  readonly expectations: readonly Expectation[];
  /** The times of the matrix that an instant query must return. */
  readonly matrix: { readonly startMs: number; readonly endMs: number; readonly stepMs: number } | null;
  readonly scalar: number | null;
  readonly text: string | null;
  readonly series: readonly SeriesLine[];
}

export type Command =
  | { readonly kind: "clear"; readonly line: number }
  | { readonly kind: "load"; readonly line: number; readonly series: readonly LoadedSeries[] }
  | EvalCommand
  /** A command that cannot be read; it counts as failed. */
  | { readonly kind: "broken"; readonly line: number; readonly problem: string };

interface Line {
  readonly number: number;
  readonly text: string;
}

/** The commands of a script, in order. Every block ends at an empty line. */
export function parseScript(text: string): readonly Command[] {
  return blocksOf(text).flatMap(parseBlock);
}

function blocksOf(text: string): readonly Line[][] {
  const blocks: Line[][] = [[]];
  for (const [index, raw] of text.split("\n").entries()) {
    const trimmed = raw.trim();
    if (trimmed.startsWith("#") || trimmed === "") blocks.push([]);
    else blocks.at(-1)!.push({ number: index + 1, text: trimmed });
  }
  return blocks.filter((block) => block.length > 0);
}

function parseBlock(block: readonly Line[]): Command[] {
  const [head, ...body] = block as [Line, ...Line[]];
  const word = head.text.split(/\s+/)[0]!.toLowerCase();
  try {
    if (word === "clear") {
      const rest = body.length === 0 ? [] : parseBlock(body);
      return [{ kind: "clear", line: head.number }, ...rest];
    }
    if (word.startsWith("load")) return [parseLoad(head, body)];
    if (word.startsWith("eval")) return parseEval(head, body);
    throw new NotationError(`invalid command ${JSON.stringify(head.text)}`);
  } catch (cause) {
    return [{ kind: "broken", line: head.number, problem: cause instanceof Error ? cause.message : String(cause) }];
  }
}

function durationOf(text: string): number {
  const duration = parseDuration(text.replace(/^-/, ""));
  if ("problem" in duration) throw new NotationError(duration.problem);
  return text.startsWith("-") ? -duration.ms : duration.ms;
}

function parseLoad(head: Line, body: readonly Line[]): Command {
  const match = /^load(?:_(with_nhcb))?\s+(.+?)$/i.exec(head.text);
  if (match === null) throw new NotationError("invalid load command. (load[_with_nhcb] <step:duration>)");
  const stepMs = durationOf(match[2]!);
  const series: LoadedSeries[] = [];
  let starts: { key: string; offsets: readonly (number | null)[] } | null = null;
  for (const { text } of body) {
    const end = metricEnd(text);
    if (text.startsWith("@st", end)) {
      starts = { key: parseMetric(text.slice(0, end)).key, offsets: parseStartOffsets(text.slice(end + 3).trim()) };
      continue;
    }
    const { labels, values } = parseSeriesLine(text);
    if (starts !== null && (starts.key !== labels.key || starts.offsets.length !== values.length)) {
      throw new NotationError(`the @st line does not fit the line after it: ${text}`);
    }
    const { offsets } = starts ?? { offsets: null };
    const samples = values.flatMap(({ histogram, omitted, stale, value }, index) => {
      const timeMs = index * stepMs;
      const offset = offsets?.[index] ?? null;
      const startMs = offset === null ? 0 : timeMs + offset;
      return omitted ? [] : [{ timeMs, startMs, value, stale, histogram }];
    });
    series.push({ labels, samples });
    starts = null;
  }
  if (starts !== null) throw new NotationError("@st line has no following sample line");
  // Of two lines for one series, the later one wins.
  const unique = [...new Map(series.map((one) => [one.labels.key, one])).values()];
  return { kind: "load", line: head.number, series: match[1] === undefined ? unique : addCustomHistograms(unique) };
}

const instantCommand = /^eval(?:_(fail|warn|ordered|info))?\s+instant\s+(?:at\s+(\S+))?\s+(.+)$/i;
const rangeCommand = /^eval(?:_(fail|warn|info))?\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+?)\s+(.+)$/i;

/** The command; another one may follow its results without an empty line. */
function parseEval(head: Line, body: readonly Line[]): Command[] {
  const range = rangeCommand.exec(head.text);
  const instant = range === null ? instantCommand.exec(head.text) : null;
  if (range === null && instant === null) throw new NotationError("invalid evaluation command");
  const startMs = durationOf((range?.[2] ?? instant![2])!);
  const modifier = range?.[1] ?? instant?.[1];
  const { consumed, ...expected } = parseExpected(body);
  const rest = body.slice(consumed);
  return [
    {
      kind: "eval",
      line: head.number,
      expression: (range?.[5] ?? instant![3])!,
      isRange: range !== null,
      startMs,
      endMs: range === null ? startMs : durationOf(range[3]!),
      stepMs: range === null ? 0 : durationOf(range[4]!),
      ...expected,
      expectations: [
        ...(modifier === undefined ? [] : [{ kind: modifier.toLowerCase() as ExpectationKind }]),
        ...expected.expectations,
      ],
    },
    ...(rest.length === 0 ? [] : parseBlock(rest)),
  ];
}

type Expected = Pick<EvalCommand, "expectations" | "matrix" | "scalar" | "text" | "series">;

/** The expected result; a scalar ends it, and later lines are commands again. */
function parseExpected(body: readonly Line[]): Expected & { consumed: number } {
  const expectations: Expectation[] = [];
  const series: SeriesLine[] = [];
  let matrix: EvalCommand["matrix"] = null;
  let text: string | null = null;
  for (const [index, { text: line }] of body.entries()) {
    const old = /^expected_fail_(message|regexp)\s+(.*)$/.exec(line);
    if (old !== null) {
      expectations.push(
        old[1] === "message" ? { kind: "fail", text: old[2]! } : { kind: "fail", pattern: RE2JS.compile(old[2]!) },
      );
    } else if (line.startsWith("expect range vector")) {
      matrix = parseMatrixTimes(line);
    } else if (line.startsWith("expect string")) {
      text = parseExpectedString(line);
    } else if (line.startsWith("expect ")) {
      expectations.push(parseExpectation(line));
    } else {
      const scalar = parseNumber(line);
      if (scalar !== undefined) return { expectations, matrix, scalar, text, series, consumed: index + 1 };
      series.push(parseSeriesLine(line));
    }
  }
  return { expectations, matrix, scalar: null, text, series, consumed: body.length };
}

function parseMatrixTimes(line: string): EvalCommand["matrix"] {
  const match = /^expect range vector\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)$/.exec(line);
  if (match === null) throw new NotationError(`invalid range vector definition "${line}"`);
  return { startMs: durationOf(match[1]!), endMs: durationOf(match[2]!), stepMs: durationOf(match[3]!) };
}

function parseExpectedString(line: string): string {
  const literal = line.slice("expect string".length).trim();
  const value = /^(["`]).*\1$/s.test(literal) ? unquoteString(literal) : undefined;
  if (value === undefined) throw new NotationError("expected string literal not valid");
  return value;
}

function parseExpectation(line: string): Expectation {
  const match = /^expect\s+(ordered|fail|warn|no_warn|info|no_info)(?:\s+(regex|msg):(.+))?$/.exec(line);
  if (match === null) throw new NotationError(`invalid expect statement: ${line}`);
  const kind = match[1] as ExpectationKind;
  const text = match[3]?.trim();
  if (match[2] === "msg") return { kind, text: text! };
  return match[2] === "regex" ? { kind, pattern: RE2JS.compile(text!) } : { kind };
}
