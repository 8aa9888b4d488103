/** A position among the tokens of a query, for the parsers of all query languages. */

interface QueryToken {
  /** `end` for the last token of every query. */
  readonly kind: string;
  /** The offset after the token. */
  readonly end: number;
}

export class TokenCursor<Token extends QueryToken> {
  readonly text: string;
  readonly #tokens: readonly Token[];
  #index = 0;

  constructor(text: string, tokens: readonly Token[]) {
    this.text = text;
    this.#tokens = tokens;
  }

  /** The token `ahead` tokens on, without consuming it; after the end, the end token. */
  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#index + ahead, this.#tokens.length - 1)]!;
  }

  next(): Token {
    const token = this.peek();
    if (token.kind !== "end") this.#index++;
    return token;
  }

  /** Where the last consumed token ends. */
  get lastEnd(): number {
    return this.#index === 0 ? 0 : this.#tokens[this.#index - 1]!.end;
  }
}
