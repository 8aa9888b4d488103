/**
 * Searches for callers' regular expressions anywhere in a text: RE2's syntax and Go's semantics, so `.` matches no newline
 * without `(?s)`. Time is linear in the text, as for expressions that match all of it.
 */
import { compileBounded, type ExpressionProblem } from "./bounded-automaton.ts";
import { LazyDfa } from "./lazy-dfa.ts";
import { wordList } from "./word-list.ts";
import { runToEnd, type YieldBudget } from "./yield-budget.ts";

export interface Search {
  /** Whether the text has a match; a promise only where the work is long. */
  isIn(text: string, budget: YieldBudget): boolean | Promise<boolean>;
}

/** Up to this many words are searched one by one; the automaton is faster for more. */
const mostSeparateWords = 4;
/** With so few characters, a search that ignores case is linear in the text. */
const mostCharactersIgnoringCase = 64;

export function compileSearch(expression: string): Search | ExpressionProblem {
  return wordSearch(expression) ?? automatonSearch(expression);
}

function automatonSearch(expression: string): Search | ExpressionProblem {
  const compiled = compileBounded(expression, "no-newlines");
  if ("problem" in compiled) return compiled;
  const { literalPrefix } = compiled.automaton;
  const dfa = new LazyDfa(compiled.automaton, "search");
  return {
    isIn(text, budget) {
      const from = literalPrefix === "" ? 0 : text.indexOf(literalPrefix);
      return from !== -1 && runToEnd(dfa.match(text, from), budget);
    },
  };
}

/** `error`, `.*error.*`, `error|warn` and `(?i)error` need no automaton. */
function wordSearch(expression: string): Search | undefined {
  const ignoresCase = expression.startsWith("(?i)");
  let rest = ignoresCase ? expression.slice(4) : expression;
  // Without alternatives, what may come before and after a match makes no difference.
  if (!rest.includes("|")) rest = rest.replace(/^(?:\.\*)+/, "").replace(/(?<!\\)(?:\.\*)+$/, "");
  const found = wordList(rest);
  if (found === undefined) return undefined;
  const words = [...found];
  if (words.includes("")) return { isIn: () => true };
  if (ignoresCase) {
    if (rest.length > mostCharactersIgnoringCase) return undefined;
    const pattern = new RegExp(
      words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join("|"),
      "iu",
    );
    return { isIn: (text) => pattern.test(text) };
  }
  const [first] = words;
  if (words.length === 1) return { isIn: (text) => text.includes(first!) };
  return words.length > mostSeparateWords ? undefined : { isIn: (text) => words.some((word) => text.includes(word)) };
}
