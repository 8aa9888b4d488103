/**
 * Reads LogQL test scripts in the format of Loki's `*.logqltest` files: `load` adds entries, `clear` removes all, `eval` is a
 * metric query with its expected result. docs/observability/logql.md describes the format.
 */
import type { MemoryEntry } from "../../src/memory-storage.ts";
import { keyOfLabels, NotationError, parseSamples, parseTime, parseValue, takeLabels } from "./notation.ts";

/** Time 0 of scripts: in 2026, so that times in nanoseconds have as many digits as today's. */
export const epochUnixNano = BigInt(Date.UTC(2026, 0, 1)) * 1_000_000n;

export interface LoadedStream {
  readonly labels: Readonly<Record<string, string>>;
  readonly entries: readonly MemoryEntry[];
}

export type Expectation =
  | { readonly kind: "series"; readonly series: readonly ExpectedSeries[]; readonly ordered: boolean }
  | { readonly kind: "scalar"; readonly value: number }
  | { readonly kind: "empty" }
  | { readonly kind: "failure"; readonly matches: (message: string) => boolean; readonly wanted: string };

export interface ExpectedSeries {
  readonly key: string;
  readonly values: readonly (number | undefined)[];
}

export interface EvalCommand {
  readonly kind: "eval";
  readonly line: number;
  readonly query: string;
  readonly isRange: boolean;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly stepNano: bigint;
  readonly expected: Expectation;
}

export type Command =
  | { readonly kind: "clear" }
  | { readonly kind: "load"; readonly streams: readonly LoadedStream[] }
  | EvalCommand
  | { readonly kind: "broken"; readonly line: number; readonly problem: string };

interface Line {
  readonly text: string;
  readonly number: number;
}

/** The commands of a script. Only the first one that cannot be read is reported, because the rest depends on it. */
export function parseScript(text: string): Command[] {
  const lines = text.split("\n").map((line, index) => ({ text: line, number: index + 1 }));
  const commands: Command[] = [];
  let index = 0;
  while (index < lines.length) {
    const head: Line = { ...lines[index]!, text: withoutComment(lines[index]!.text).trim() };
    index++;
    if (head.text === "") continue;
    const start = index;
    while (index < lines.length && belongsToBlock(lines[index]!.text)) index++;
    const body = lines
      .slice(start, index)
      .map((line) => ({ ...line, text: withoutComment(line.text).trim() }))
      .filter((line) => line.text !== "");
    try {
      commands.push(parseCommand(head, body));
    } catch (cause) {
      if (!(cause instanceof NotationError)) throw cause;
      return [...commands, { kind: "broken", line: head.number, problem: cause.message }];
    }
  }
  return commands;
}

/** Indented lines, and comments between them. */
function belongsToBlock(text: string): boolean {
  return text.trim() !== "" && (/^[ \t]/.test(text) || text.startsWith("#"));
}

/** A comment begins outside of quotes. */
function withoutComment(text: string): string {
  return /^(?:[^#"`]|"[^"]*"|`[^`]*`)*(?:["`].*)?/.exec(text)![0].trimEnd();
}

function parseCommand(head: Line, body: readonly Line[]): Command {
  const word = head.text.split(/\s/, 1)[0];
  if (word === "eval") return parseEval(head, body);
  if (word === "load" && body.length > 0) return { kind: "load", streams: body.map(({ text }) => parseStream(text)) };
  if (word === "clear" && body.length === 0) return { kind: "clear" };
  throw new NotationError(`invalid command: ${head.text}`);
}

/** `{app="a"} "line {{.i}}" @ 10s [repeat every 5s for 3] [metadata key="value"]`; the line has no escapes. */
function parseStream(text: string): LoadedStream {
  const { labels, rest } = takeLabels(text);
  const match =
    /^\s*(?:"([^"]*)"|`([^`]*)`)\s*@\s*(\S+)(?:\s*\[repeat every\s+(\S+)\s+for\s+(\d+)\])?(?:\s*\[metadata\s+(.*)\])?$/.exec(
      rest,
    );
  if (match === null) throw new NotationError(`invalid entry: ${text}`);
  const [, quoted, raw, start, step, count, metadata] = match;
  const first = epochUnixNano + parseTime(start!);
  const stepNano = step === undefined ? 0n : parseTime(step);
  const structuredMetadata = metadata === undefined ? [] : parseMetadata(metadata);
  const entries = Array.from({ length: Number(count ?? 1) }, (_, index) => ({
    unixNano: first + BigInt(index) * stepNano,
    line: (quoted ?? raw!).replaceAll("{{.i}}", String(index)),
    structuredMetadata,
  }));
  return { labels: Object.fromEntries(labels), entries };
}

function parseMetadata(text: string): readonly string[] {
  const pairs = [...text.matchAll(/(?:"([^"]*)"|([^\s"=]+))="([^"]*)"\s*/g)];
  if (pairs.length === 0 || pairs.map(([pair]) => pair).join("") !== text) {
    throw new NotationError(`invalid metadata: ${text}`);
  }
  return pairs.flatMap(([, quoted, plain, value]) => [quoted ?? plain!, value!]);
}

const instantCommand = /^eval\s+instant\s+at\s+(\S+)\s+(.+)$/s;
const rangeCommand = /^eval\s+range\s+from\s+(\S+)\s+to\s+(\S+)\s+step\s+(\S+)\s+(.+)$/s;

function parseEval(head: Line, body: readonly Line[]): EvalCommand {
  const instant = instantCommand.exec(head.text);
  const range = rangeCommand.exec(head.text);
  const [start, end, step, query] =
    instant === null ? (range?.slice(1) ?? []) : [instant[1], instant[1], "0", instant[2]];
  if (query === undefined) throw new NotationError(`invalid eval command: ${head.text}`);
  return {
    kind: "eval",
    line: head.number,
    query,
    isRange: range !== null,
    startUnixNano: epochUnixNano + parseTime(start!),
    endUnixNano: epochUnixNano + parseTime(end!),
    stepNano: parseTime(step ?? "0"),
    expected: parseExpectation(body, head),
  };
}

function parseExpectation(body: readonly Line[], head: Line): Expectation {
  // Loki has several ways to run a query, some of them approximate. Ours is one.
  const lines = body.map(({ text }) => text).filter((text) => !text.startsWith("skip "));
  const [first] = lines;
  if (first === undefined) throw new NotationError(`no expected result: ${head.text}`);
  if (lines.length === 1) {
    if (first === "expect empty") return { kind: "empty" };
    if (first.startsWith("expect fail")) return parseFailure(first);
    if (!first.startsWith("{") && !first.startsWith("expect")) return { kind: "scalar", value: parseValue(first) };
  }
  const ordered = first === "expect ordered";
  const series = (ordered ? lines.slice(1) : lines).map((text) => {
    const { labels, rest } = takeLabels(text);
    return { key: keyOfLabels(labels), values: parseSamples(rest) };
  });
  return { kind: "series", series, ordered };
}

function parseFailure(text: string): Expectation {
  const match = /^expect fail(?:\s+(msg|regex):\s*(\S.*))?$/.exec(text);
  if (match === null) throw new NotationError(`invalid expectation: ${text}`);
  const [, how, wanted = "any"] = match;
  if (how === undefined) return { kind: "failure", matches: () => true, wanted };
  const pattern = how === "regex" ? new RegExp(wanted) : undefined;
  const matches = (message: string): boolean => pattern?.test(message) ?? message.includes(wanted);
  return { kind: "failure", matches, wanted };
}
