/** The compiled program of an expression, from the parser of RE2 (re2js), and the context of its assertions. */
import { RE2JS } from "re2js";

/** An instruction of the program; Go's names (regexp/syntax/prog.go). */
export interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  matchRune(codePoint: number): boolean;
}

export const operations = { alternative: 1, alternativeMatch: 2, capture: 3, assertion: 4, fail: 5, match: 6, nop: 7 };
/** This operation and those above it consume a character. */
export const firstConsuming = 8;

export interface Automaton {
  /** The same expression with the matcher of re2js, which cannot pause. */
  readonly pattern: RE2JS;
  readonly instructions: readonly Instruction[];
  readonly start: number;
  /** Whether assertions such as `\b` or `^` occur: then the characters around a position matter. */
  readonly hasAssertions: boolean;
  /** The text that every match begins with; "" if it varies. */
  readonly literalPrefix: string;
  readonly groupCount: number;
  readonly groupNames: ReadonlyMap<string, number>;
}

interface Program {
  readonly inst: readonly Instruction[];
  readonly start: number;
}

/** What `.` matches: every character, as in Prometheus, or all but newlines, as in Go. */
export type Dot = "newlines-too" | "no-newlines";

/** @throws the parser's exception, whose message is RE2's */
export function compileAutomaton(expression: string, dot: Dot = "newlines-too"): Automaton {
  const pattern = RE2JS.compile(expression, dot === "newlines-too" ? RE2JS.DOTALL : 0);
  const compiled = pattern.re2();
  const program = compiled.prog as Program;
  return {
    pattern,
    instructions: program.inst,
    start: program.start,
    hasAssertions: program.inst.some(({ op }) => op === operations.assertion),
    literalPrefix: String(compiled.prefix),
    groupCount: compiled.numberOfCapturingGroups(),
    groupNames: new Map(Object.entries(compiled.namedGroups)),
  };
}

/** The position after the last character. */
export const endOfText = -1;

/** What precedes a position, as far as assertions need it. */
export const before = { begin: 0, newline: 1, wordCharacter: 2, other: 3 };

const newline = 10;

export function beforeNext(codePoint: number): number {
  if (codePoint === newline) return before.newline;
  return isWordCharacter(codePoint) ? before.wordCharacter : before.other;
}

function isWordCharacter(codePoint: number): boolean {
  return (
    (codePoint >= 97 && codePoint <= 122) ||
    (codePoint >= 65 && codePoint <= 90) ||
    (codePoint >= 48 && codePoint <= 57) ||
    codePoint === 95
  );
}

const holds = { beginLine: 1, endLine: 2, beginText: 4, endText: 8, wordBoundary: 16, noWordBoundary: 32 };

/** The assertions that hold between what precedes a position and the next character, as bits. */
export function assertionsAt(previous: number, next: number): number {
  let bits = 0;
  if (previous === before.begin) bits |= holds.beginText | holds.beginLine;
  if (previous === before.newline) bits |= holds.beginLine;
  if (next === endOfText) bits |= holds.endText | holds.endLine;
  if (next === newline) bits |= holds.endLine;
  const isBoundary = (previous === before.wordCharacter) !== isWordCharacter(next);
  return bits | (isBoundary ? holds.wordBoundary : holds.noWordBoundary);
}
