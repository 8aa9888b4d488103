/** A cursor over a query's tokens, with the errors of the parser. */
import { inputLimit } from "../input-limit.ts";
import { parseError } from "./parse-error.ts";
import type { SourceRange } from "./source-range.ts";
import { TokenCursor } from "./token-cursor.ts";
import { describeToken, type Token } from "./token.ts";

/** How many operators, ranges and subqueries a query may have: each may deepen its tree by one level. */
const maximumOperators = inputLimit({
  area: "PromQL",
  bounds: "Operators, ranges and subqueries of a query",
  value: 1000,
  error: "invalid_request",
});

export class TokenStream extends TokenCursor<Token> {
  #operators = 0;

  /** Consumes an operator or an opening bracket; their number is limited. */
  nextOperator(): Token {
    this.#operators++;
    if (this.#operators > maximumOperators) {
      throw this.error(this.peek(), `the query has more than ${maximumOperators} operators, ranges and subqueries`);
    }
    return this.next();
  }

  isSign(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === "sign" && token.text === text;
  }

  isKeyword(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === "keyword" && token.text === text;
  }

  /** Consumes the sign or keyword if it comes next. */
  takeIf(text: string): boolean {
    if (!this.isSign(text) && !this.isKeyword(text)) return false;
    this.next();
    return true;
  }

  expectSign(text: string, context: string, expected = `"${text}"`): Token {
    if (!this.isSign(text)) throw this.unexpected(context, expected);
    return this.next();
  }

  /** What to throw when the next token fits nowhere. */
  unexpected(context: string, expected?: string): Error {
    const token = this.peek();
    const where = context === "" ? "" : ` in ${context}`;
    const wanted = expected === undefined ? "" : `, expected ${expected}`;
    return this.error(token, `unexpected ${describeToken(token)}${where}${wanted}`);
  }

  error(at: SourceRange, problem: string): Error {
    return parseError(this.text, at, problem);
  }
}
