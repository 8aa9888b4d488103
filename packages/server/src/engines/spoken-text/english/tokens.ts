/** Splits a sentence into what stands between white space, each without the signs around it. */
import type { Rewrite } from "../spoken-text.ts";

export interface Token {
  /** Without the signs around it. */
  readonly text: string;
  /** Where `text` is in the sentence. */
  readonly start: number;
  readonly end: number;
  /** The signs right before and right after it. */
  readonly before: string;
  readonly after: string;
}

export interface Sentence {
  readonly tokens: readonly Token[];
  /** Whether 3/4 is the third of April, and 101 one hundred and one. */
  readonly british: boolean;
}

/** What a rule makes of the token at a position and the ones after it. */
export interface Reading {
  readonly rewrites: readonly Rewrite[];
  /** How many tokens are read. */
  readonly count: number;
}

export type Rule = (sentence: Sentence, index: number) => Reading | undefined;

const opening = new Set("([{\"“”„‘’'«‹*_`|");
const closing = new Set(".,;:!?…)]}\"“”’'»›*_`~>|");

export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (const { 0: chunk, index } of text.matchAll(/[^\s—]+/g)) {
    let from = 0;
    let to = chunk.length;
    while (from < to && opening.has(chunk[from]!)) from++;
    while (to > from && closing.has(chunk[to - 1]!)) to--;
    if (from === to) continue;
    tokens.push({
      text: chunk.slice(from, to),
      start: index + from,
      end: index + to,
      before: chunk.slice(0, from),
      after: chunk.slice(to),
    });
  }
  return tokens;
}

/** Reads one token. */
export function one(token: Token, spoken: string): Reading {
  return { rewrites: [say(token, spoken)], count: 1 };
}

/** Reads several tokens, each for itself. */
export function each(rewrites: readonly Rewrite[]): Reading {
  return { rewrites, count: rewrites.length };
}

export function say({ start, end }: Token, spoken: string): Rewrite {
  return { start, end, spoken };
}

/** An abbreviation with its full stop, unless the full stop also ends the sentence. */
export function sayAbbreviation({ tokens }: Sentence, index: number, spoken: string): Rewrite {
  const token = tokens[index]!;
  const dotted = token.after.startsWith(".") && index < tokens.length - 1;
  return { start: token.start, end: token.end + (dotted ? 1 : 0), spoken };
}

/** Reads several tokens as one. */
export function together(
  sentence: Sentence,
  index: number,
  { count, spoken }: { count: number; spoken: string },
): Reading {
  const { tokens } = sentence;
  return { rewrites: [{ start: tokens[index]!.start, end: tokens[index + count - 1]!.end, spoken }], count };
}

/** The token after `index` if nothing but white space is between them. */
export function adjacent({ tokens }: Sentence, index: number): Token | undefined {
  const next = tokens[index + 1];
  return next !== undefined && tokens[index]!.after === "" && next.before === "" ? next : undefined;
}

/** Whether a word begins with a capital letter. */
export function isCapitalized(token: Token | undefined): boolean {
  return token !== undefined && /^[A-Z][a-z']/.test(token.text);
}
