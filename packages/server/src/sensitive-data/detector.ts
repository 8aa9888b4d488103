/** Defines what finds one kind of sensitive data in text. */

export interface FoundRange {
  readonly start: number;
  readonly end: number;
}

export interface Detector {
  /** Longer matches may be cut in streamed or long text, in UTF-16 code units. */
  readonly longestMatch: number;
  /**
   * The first match that begins at `from` or later; the text before `from` only decides whether something begins there. Time is
   * linear in the text.
   */
  find(text: string, from: number): FoundRange | undefined;
}

/** A detector by an expression with the flag `g`, whose matches are checked. */
export function expressionDetector(
  expression: RegExp,
  longestMatch: number,
  accepts: (match: string) => boolean = () => true,
): Detector {
  return {
    longestMatch,
    find(text, from) {
      expression.lastIndex = from;
      for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
        if (accepts(match[0])) return { start: match.index, end: match.index + match[0].length };
        // What begins inside a refused match may be one.
        expression.lastIndex = match.index + 1;
      }
      return undefined;
    },
  };
}
