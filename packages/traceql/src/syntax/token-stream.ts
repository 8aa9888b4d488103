/** A cursor over the tokens of a TraceQL query, with the errors of the parser. */
import { inputLimit } from "@sounding/promql/input-limit";
import { closestName } from "@sounding/promql/syntax/closest-name";
import { TokenCursor } from "@sounding/promql/syntax/token-cursor";
import { parseError } from "./parse-error.ts";
import { describeToken, type Token } from "./token.ts";

/** How many operators, brackets and stages a query may have: each may deepen its tree by one level. */
const maximumOperators = inputLimit({
  area: "TraceQL",
  bounds: "Operators, brackets and stages of a query",
  value: 1000,
  error: "invalid_request",
});

export class TokenStream extends TokenCursor<Token> {
  #operators = 0;

  /** Consumes an operator or an opening bracket; their number is limited. */
  nextOperator(): Token {
    this.#operators++;
    if (this.#operators > maximumOperators) {
      throw this.error(this.peek(), `the query has more than ${maximumOperators} operators, brackets and stages`);
    }
    return this.next();
  }

  isSign(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === "sign" && token.text === text;
  }

  isWord(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === "word" && token.text === text;
  }

  /** Consumes the sign if it comes next. */
  takeSign(text: string): boolean {
    if (!this.isSign(text)) return false;
    this.next();
    return true;
  }

  expectSign(text: string): Token {
    if (!this.isSign(text)) throw this.unexpected(JSON.stringify(text));
    return text === "(" || text === "{" ? this.nextOperator() : this.next();
  }

  /** What to throw when the next token fits nowhere; `known` are the words that would. */
  unexpected(expected: string, known: Iterable<string> = []): Error {
    const token = this.peek();
    const closest = token.kind === "word" ? closestName(token.text, known) : undefined;
    const hint = closest === undefined ? "" : `, did you mean "${closest}"?`;
    return this.error(token, `unexpected ${describeToken(token)}, expected ${expected}${hint}`);
  }

  error(at: { readonly start: number }, problem: string): Error {
    return parseError(this.text, at.start, problem);
  }
}
