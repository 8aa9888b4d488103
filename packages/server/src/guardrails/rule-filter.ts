/**
 * Local rules on a text that grows. As much is held back as the longest match is long: a match is therefore found, or
 * known to be impossible, before its first character leaves, however the text is cut.
 */
import type { FilteredText, TextFilter, TextFinding } from "./finding.ts";
import { wordSign, type Match, type TextMatcher } from "./text-matcher.ts";

/** As many code units before the held text are kept, to know whether a word begins there. */
const contextLength = 2;

const startsWithWordSign = new RegExp(`^${wordSign}`, "u");
const endsWithWord = new RegExp(`${wordSign}+$`, "u");

export class RuleFilter implements TextFilter {
  readonly #matchers: readonly TextMatcher[];
  readonly #replacement: string;
  readonly #longestMatch: number;
  /** Where each matcher looks next; places count from the begin of the whole text. */
  readonly #resume: number[];
  /** The text from `#begin` on: a little of what has left, and all that has not. */
  #text = "";
  #begin = 0;
  #released = 0;
  /** What is to be replaced, in order, without overlaps. */
  #redactions: Match[] = [];
  #isBlocked = false;

  constructor(matchers: readonly TextMatcher[], replacement: string) {
    this.#matchers = matchers;
    this.#replacement = replacement;
    this.#longestMatch = Math.max(...matchers.map(({ longestMatch }) => longestMatch));
    this.#resume = matchers.map(() => 0);
  }

  push(piece: string, isLast: boolean): FilteredText {
    if (this.#isBlocked) return { text: "", findings: [] };
    this.#text += piece;
    const findings: TextFinding[] = [];
    for (const index of this.#matchers.keys()) {
      findings.push(...this.#search(index, isLast));
      if (findings.at(-1)?.action !== "block") continue;
      this.#isBlocked = true;
      return { text: "", findings };
    }
    return { text: this.#release(isLast), findings };
  }

  /** All matches of one matcher that more text cannot change; of each kind of finding one. */
  #search(index: number, isLast: boolean): TextFinding[] {
    const matcher = this.#matchers[index]!;
    const end = this.#begin + this.#text.length;
    let isFound = false;
    for (;;) {
      const from = Math.max(this.#resume[index]!, this.#released) - this.#begin;
      const found = from > this.#text.length ? undefined : matcher.find(this.#text, from);
      if (found === undefined) break;
      const match = { start: found.start + this.#begin, end: found.end + this.#begin };
      // More text may still change what matches here: a word may go on, a longer phrase may fit.
      if (!isLast && match.start + this.#longestMatch >= end) break;
      this.#resume[index] = match.start + 1;
      // A match that is longer than was promised: the end of what has come is not the end of the text.
      if (!isLast && match.end === end && matcher.find(`${this.#text}\n`, from)?.start !== found.start) continue;
      isFound = true;
      this.#resume[index] = matcher.resumeAfter(match);
      if (matcher.finding.action === "redact") this.#redact(match);
      else this.#resume[index] = Infinity;
    }
    return isFound ? [matcher.finding] : [];
  }

  #redact(match: Match): void {
    const apart = this.#redactions.filter(({ start, end }) => end <= match.start || start >= match.end);
    const touched = this.#redactions.filter((each) => !apart.includes(each));
    const start = Math.min(match.start, ...touched.map((each) => each.start));
    const end = Math.max(match.end, ...touched.map((each) => each.end));
    this.#redactions = [...apart, { start, end }].sort((left, right) => left.start - right.start);
  }

  #release(isLast: boolean): string {
    const end = this.#begin + this.#text.length;
    const to = isLast ? end : this.#placeToCut(Math.max(this.#released, end - this.#longestMatch));
    let text = "";
    let at = this.#released;
    for (const { start, end: redactedTo } of this.#redactions) {
      if (start >= to) break;
      text += this.#slice(at, Math.max(at, start));
      // Of a match whose first part left before, the replacement has left too.
      if (start >= this.#released) text += this.#replacement;
      at = Math.max(at, Math.min(redactedTo, to));
    }
    text += this.#slice(at, to);
    this.#released = to;
    this.#redactions = this.#redactions.filter((each) => each.end > to);
    const begin = Math.max(this.#begin, to - contextLength);
    this.#text = this.#text.slice(begin - this.#begin);
    this.#begin = begin;
    return text;
  }

  #slice(from: number, to: number): string {
    return this.#text.slice(from - this.#begin, to - this.#begin);
  }

  /**
   * The place itself, or one before it that parts no surrogate pair and no word: if a block followed, half of `bombard` would
   * be the last that leaves. A word that is longer than what is looked for may be parted.
   */
  #placeToCut(wanted: number): number {
    const code = this.#text.charCodeAt(wanted - this.#begin);
    const place = code >= 0xdc00 && code <= 0xdfff && wanted > this.#released ? wanted - 1 : wanted;
    if (!startsWithWordSign.test(this.#slice(place, place + 2))) return place;
    const from = Math.max(this.#released, place - this.#longestMatch - 1);
    const begun = endsWithWord.exec(this.#slice(from, place))?.[0].length ?? 0;
    return begun <= this.#longestMatch ? place - begun : place;
  }
}
