/**
 * Applies local rules to a growing text. It withholds as many characters as the longest possible match, so a match is found,
 * or ruled out, before its first character is released, however the text is split.
 */
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";
import type { FilteredText, TextFilter, TextFinding } from "./finding.ts";
import type { RedactionCount } from "./redaction-count.ts";
import { wordSign, type Match, type TextMatcher } from "./text-matcher.ts";

/** As many code units before the held text are kept, to know whether a word begins there. */
const contextLength = 2;

const startsWithWordSign = new RegExp(`^${wordSign}`, "u");
const endsWithWord = new RegExp(`${wordSign}+$`, "u");

/** A search takes some microseconds. */
const stepsPerSearch = 4;
/** A search reads no more text than this plus the longest match, since it may read all of it for every match. */
const smallestWindow = 512;

export interface RuleFilterOptions {
  readonly matchers: readonly TextMatcher[];
  readonly replacement: string;
  readonly signal: AbortSignal;
  readonly redactions: RedactionCount;
}

export class RuleFilter implements TextFilter {
  readonly #options: RuleFilterOptions;
  readonly #longestMatch: number;
  readonly #window: number;
  /** The next position of each matcher, from the beginning of the whole text. */
  readonly #resume: number[];
  /** The text from `#begin` on: a little released text, and all withheld text. */
  #text = "";
  #begin = 0;
  #released = 0;
  /** What is to be replaced; in order and without overlaps once `#joinRedactions` has run. */
  #redactions: Match[] = [];
  #isBlocked = false;

  constructor(options: RuleFilterOptions) {
    this.#options = options;
    this.#longestMatch = options.matchers.reduce((longest, matcher) => Math.max(longest, matcher.longestMatch), 0);
    this.#window = Math.max(smallestWindow, this.#longestMatch);
    this.#resume = options.matchers.map(() => 0);
    if (options.redactions.isOverLimit) this.#redactFrom(0);
  }

  /** @param of the work that this is part of */
  async push(piece: string, isLast: boolean, yielder = new CooperativeYield()): Promise<FilteredText> {
    if (this.#isBlocked) return { text: "", findings: [] };
    const findings = new Set<TextFinding>();
    let text = "";
    for (let at = 0, isEnd = false; !isEnd; at += this.#window) {
      isEnd = at + this.#window >= piece.length;
      this.#text += piece.slice(at, at + this.#window);
      for (const [index, { finding }] of this.#options.matchers.entries()) {
        if (await this.#search(index, isEnd && isLast, yielder)) findings.add(finding);
        if (finding.action !== "block" || !findings.has(finding)) continue;
        this.#isBlocked = true;
        return { text: "", findings: [...findings] };
      }
      text += this.#release(isEnd && isLast);
    }
    return { text, findings: [...findings] };
  }

  /**
   * All matches of one matcher that more text cannot change; of a kind of finding that is not redacted, one.
   * @returns whether there are any
   */
  async #search(index: number, isLast: boolean, yielder: CooperativeYield): Promise<boolean> {
    const matcher = this.#options.matchers[index]!;
    const end = this.#begin + this.#text.length;
    let isFound = false;
    for (;;) {
      if (yielder.isDue(stepsPerSearch)) {
        await yielder.yield();
        this.#options.signal.throwIfAborted();
      }
      const from = Math.max(this.#resume[index]!, this.#released) - this.#begin;
      const found = from > this.#text.length ? undefined : matcher.find(this.#text, from);
      if (found === undefined) break;
      const match = { start: found.start + this.#begin, end: found.end + this.#begin };
      // More text may still change the match: a word may continue, a longer phrase may match.
      if (!isLast && match.start + this.#longestMatch >= end) break;
      this.#resume[index] = match.start + 1;
      // A match longer than declared: the end of the received text is not the end of the whole text.
      if (!isLast && match.end === end && matcher.find(`${this.#text}\n`, from)?.start !== found.start) continue;
      isFound = true;
      this.#resume[index] = matcher.resumeAfter(match);
      if (matcher.finding.action === "redact") this.#redact(match);
      else this.#resume[index] = Infinity;
    }
    return isFound;
  }

  #redact(match: Match): void {
    this.#options.redactions.add();
    if (this.#options.redactions.isOverLimit) this.#redactFrom(match.start);
    else this.#redactions.push(match);
  }

  /** All that follows is replaced, and only what blocks is still searched. */
  #redactFrom(start: number): void {
    this.#redactions.push({ start, end: Infinity });
    for (const [index, { finding }] of this.#options.matchers.entries()) {
      if (finding.action === "redact") this.#resume[index] = Infinity;
    }
  }

  #joinRedactions(): void {
    const joined: Match[] = [];
    for (const next of this.#redactions.sort((left, right) => left.start - right.start)) {
      const last = joined.at(-1);
      if (last === undefined || next.start >= last.end) joined.push(next);
      else joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, next.end) };
    }
    this.#redactions = joined;
  }

  #release(isLast: boolean): string {
    this.#joinRedactions();
    const end = this.#begin + this.#text.length;
    const to = isLast ? end : this.#placeToCut(Math.max(this.#released, end - this.#longestMatch));
    let text = "";
    let at = this.#released;
    for (const { start, end: redactedTo } of this.#redactions) {
      if (start >= to) break;
      text += this.#slice(at, Math.max(at, start));
      // If the first part of a match was released, so was its replacement.
      if (start >= this.#released) text += this.#options.replacement;
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
   * The position itself, or an earlier one that splits no surrogate pair and no word: otherwise, if a block followed, the
   * response would end with half of a word. Only a word longer than every pattern may be split.
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
