/** Estimates the tokens of text, for limits until an engine reports usage, and where none does. */

/** English text and code in current vocabularies. */
const charactersPerToken = 4;

/** @param length characters, or bytes of a request */
export function estimateTokens(length: number): number {
  return Math.ceil(length / charactersPerToken);
}
