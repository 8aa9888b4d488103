/**
 * Label matchers as functions. Regular expressions have RE2's syntax and run in linear time, so a query cannot stall the
 * server; both ends are anchored and `.` matches newlines, as in Prometheus. docs/adr/0025-promql-engine.md
 */
import { RE2JS } from "re2js";
import type { LabelMatcher } from "../syntax/ast.ts";

export type CompiledMatcher =
  | { readonly matches: (value: string) => boolean }
  /** The matcher's regular expression is broken. */
  | { readonly problem: string };

/** The matcher as a function on a label's value; an absent label has the value "". */
export function compileMatcher(matcher: LabelMatcher): CompiledMatcher {
  const { operator, value: wanted } = matcher;
  if (operator === "=") return { matches: (value) => value === wanted };
  if (operator === "!=") return { matches: (value) => value !== wanted };
  const pattern = compileAnchored(wanted);
  if ("problem" in pattern) return pattern;
  return { matches: operator === "=~" ? pattern.matches : (value) => !pattern.matches(value) };
}

/** Words without any operator but `|`; signs may be escaped. */
const onlyWords = /^(?:[^\\.+*?()[\]{}^$]|\\[!-/:-@[-`{-~])*$/;

/** The words of a list such as `a|b\.c`, undefined for any other expression. */
function wordList(expression: string): ReadonlySet<string> | undefined {
  if (!onlyWords.test(expression)) return undefined;
  const words = [""];
  for (const [token] of expression.matchAll(/\\?[^]/g)) {
    if (token === "|") words.push("");
    else words[words.length - 1] += token.length === 2 ? token[1]! : token;
  }
  return new Set(words);
}

function compileAnchored(expression: string): CompiledMatcher {
  // What dashboards mostly send needs no engine: everything, something, or a list of plain words.
  if (expression === ".*") return { matches: () => true };
  if (expression === ".+") return { matches: (value) => value !== "" };
  const words = wordList(expression);
  if (words !== undefined) return { matches: (value) => words.has(value) };
  const compiled = compileRegularExpression(expression);
  return "problem" in compiled ? compiled : { matches: (value) => compiled.pattern.matches(value) };
}

/** Compiling takes time in the length of the expression, during which nothing else runs. */
const maximumLength = 65_536;

/** A pattern whose `matches` asks for the whole text, or what is wrong with it. */
export function compileRegularExpression(
  expression: string,
): { readonly pattern: RE2JS } | { readonly problem: string } {
  if (expression.length > maximumLength) {
    return { problem: `error parsing regexp: it has ${expression.length} characters, the limit is ${maximumLength}` };
  }
  try {
    return { pattern: RE2JS.compile(expression, RE2JS.DOTALL) };
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : "error parsing regexp" };
  }
}
