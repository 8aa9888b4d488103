/**
 * Which labels the parsers of a query extract. A metric query that groups by a few labels needs no others; then a parser stops
 * once it has found them, and does not see errors behind them, as in Loki.
 */
import { duplicateSuffix, errorLabel, type EntryLabels } from "./entry-labels.ts";

export class ParserHints {
  /** null: all labels. */
  #required: ReadonlySet<string> | null = null;

  /** Limits the labels to those that the query groups by and that its stages read. */
  limitTo(names: Iterable<string>): void {
    const required = new Set<string>();
    for (const name of names) {
      required.add(name);
      // A parser calls it so before it knows that the name is taken.
      if (name.endsWith(duplicateSuffix)) required.add(name.slice(0, -duplicateSuffix.length));
    }
    this.#required = required;
  }

  /** Whether the query needs no label at all. */
  get needsNothing(): boolean {
    return this.#required?.size === 0;
  }

  /** Whether the query looks at errors: then they do not make it fail. */
  get preservesErrors(): boolean {
    return this.#required?.has(errorLabel) === true;
  }

  needs(name: string): boolean {
    return this.#required === null || this.#required.has(name);
  }

  /** Whether the query needs a label whose name begins so. */
  needsPrefix(prefix: string): boolean {
    if (this.#required === null) return true;
    for (const name of this.#required) {
      if (name.startsWith(prefix)) return true;
    }
    return false;
  }

  /** Whether all needed labels have been extracted. */
  isDone(labels: EntryLabels): boolean {
    if (this.#required === null) return false;
    if (labels.parsedCount < this.#required.size) return false;
    for (const name of this.#required) {
      if (!labels.wasParsed(name)) return false;
    }
    return true;
  }
}
