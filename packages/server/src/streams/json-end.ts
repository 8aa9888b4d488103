/** Notices where a JSON object that arrives in pieces ends. */

export class JsonEnd {
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #isComplete = false;

  /** Whether a whole object or list has arrived. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  push(piece: string): void {
    for (const character of piece) {
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (character === "\\") this.#isEscaped = true;
        else if (character === '"') this.#inString = false;
      } else if (character === '"') this.#inString = true;
      else if (character === "{" || character === "[") this.#depth += 1;
      else if (character === "}" || character === "]") {
        this.#depth -= 1;
        this.#isComplete = this.#depth === 0;
      }
    }
  }
}
