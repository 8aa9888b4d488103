/**
 * Regular expressions on attribute values. Expressions on spans are evaluated without breaks; a match that wants a break ends
 * the evaluation with a `LongMatch`, whose result is kept for the next attempt.
 */
import { QueryError } from "@sounding/promql/query-error";
import { compileExpression, type RegularExpression } from "@sounding/promql/regex/regular-expression";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";

interface PausedMatch {
  finish(): Promise<void>;
  forget(): void;
}

export class LongMatch extends Error {
  readonly #match: PausedMatch;

  constructor(match: PausedMatch) {
    super("a regular expression needs more time");
    this.#match = match;
  }

  /** Ends the match; then the evaluation can be repeated. */
  finish(): Promise<void> {
    return this.#match.finish();
  }

  /** The evaluation does not need the result any more. */
  forget(): void {
    this.#match.forget();
  }
}

/** Whether an expression matches all of a text; throws a LongMatch where that takes a break. */
export type TextMatcher = (text: string) => boolean;

export function textMatcher(expression: string, budget: YieldBudget): TextMatcher {
  const compiled = compile(expression);
  const known = new Map<string, boolean>();
  return (text) => {
    const earlier = known.size === 0 ? undefined : known.get(text);
    if (earlier !== undefined) return earlier;
    const found = compiled.matches(text, budget);
    if (typeof found === "boolean") return found;
    throw new LongMatch({
      finish: async () => void known.set(text, await found),
      forget: () => void known.delete(text),
    });
  };
}

function compile(expression: string): RegularExpression {
  const compiled = compileExpression(expression);
  if ("matches" in compiled) return compiled;
  throw new QueryError(
    "invalid_request",
    `invalid regular expression ${JSON.stringify(expression)}: ${compiled.problem}`,
    {
      param: "q",
    },
  );
}
