/** A cursor over a query's tokens, with the parser's errors and the limits on nesting and operators. */
import { inputLimit } from "@sounding/promql/input-limit";
import { TokenCursor } from "@sounding/promql/syntax/token-cursor";
import type { SourceRange } from "@sounding/promql/syntax/source-range";
import { parseError } from "./parse-error.ts";
import { describeToken, type Token, type TokenKind } from "./token.ts";

/** How deeply expressions may be nested; deeper nesting would only exhaust the stack. */
const maximumDepth = inputLimit({
  area: "LogQL",
  bounds: "Levels of nesting of a query",
  value: 200,
  error: "invalid_request",
});
/** How many operators and stages a query may have: each may deepen its tree by one level. */
const maximumOperators = inputLimit({
  area: "LogQL",
  bounds: "Operators and stages of a query, with the operators of label filters and the alternatives of line filters",
  value: 1000,
  error: "invalid_request",
});

export class TokenStream extends TokenCursor<Token> {
  #operators = 0;
  #depth = 0;

  /** Counts an operator, a stage or an alternative; their number is limited. */
  countOperator(): void {
    this.#operators++;
    if (this.#operators <= maximumOperators) return;
    throw this.error(this.peek(), `the query has more than ${maximumOperators} operators and stages`);
  }

  /** Parses something one level deeper; the depth is limited. */
  nested<Result>(parse: () => Result): Result {
    if (this.#depth >= maximumDepth) {
      throw this.error(this.peek(), `the query is nested more than ${maximumDepth} levels deep`);
    }
    this.#depth++;
    const result = parse();
    this.#depth--;
    return result;
  }

  /** From a token to the last consumed one. */
  rangeFrom(start: SourceRange): SourceRange {
    return Object.freeze({ start: start.start, end: this.lastEnd });
  }

  /** Whether a sign or keyword comes next. */
  isNext(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return (token.kind === "sign" || token.kind === "keyword") && token.text === text;
  }

  /** Consumes the sign or keyword if it comes next. */
  takeIf(text: string): boolean {
    const found = this.isNext(text);
    if (found) this.next();
    return found;
  }

  expect(text: string, expected = text): Token {
    if (!this.isNext(text)) throw this.unexpected(expected);
    return this.next();
  }

  expectKind(kind: TokenKind): Token {
    if (this.peek().kind !== kind) throw this.unexpected(kind.toUpperCase());
    return this.next();
  }

  /** What to throw when the next token fits nowhere. */
  unexpected(expected?: string): Error {
    const wanted = expected === undefined ? "" : `, expecting ${expected}`;
    return this.error(this.peek(), `syntax error: unexpected ${describeToken(this.peek())}${wanted}`);
  }

  error(at: SourceRange, problem: string): Error {
    return parseError(this.text, at, problem);
  }
}
