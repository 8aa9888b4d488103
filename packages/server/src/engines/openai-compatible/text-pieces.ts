/** Joins a text that is cut between the halves of a character beyond 16 bits, such as an emoji. */
export class TextPieces {
  #half = "";

  /** What can be passed on: without a first half at the end, which waits for its second. */
  join(piece: string): string {
    const text = this.#half + piece;
    const code = text.charCodeAt(text.length - 1);
    const isHalf = code >= 0xd800 && code <= 0xdbff;
    this.#half = isHalf ? text.slice(-1) : "";
    return (isHalf ? text.slice(0, -1) : text).toWellFormed();
  }

  /** What remains at the end: a replacement character if half a character has waited in vain. */
  rest(): string {
    const rest = this.#half.toWellFormed();
    this.#half = "";
    return rest;
  }
}
