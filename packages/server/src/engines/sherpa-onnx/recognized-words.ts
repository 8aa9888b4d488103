/**
 * Builds words from a model's tokens. A token may be part of a word, a word with the space before it, or part of a
 * character, so words come from the text and their times from the tokens at that position.
 */
import type { TranscribedWord } from "../engine.ts";
import { dictionaryWords, withoutSpaces } from "../spoken-text/segmenters.ts";
import type { Recognition } from "./protocol.ts";

interface Range {
  readonly from: number;
  readonly to: number;
}

interface PlacedToken extends Range {
  readonly start: number;
  /** Undefined if the model returns none. */
  readonly end: number | undefined;
  readonly logProbability: number | null | undefined;
}

/** Assumed duration in seconds of a last token without one, and of a word before a pause. */
const tokenLength = 0.3;

/**
 * @param begin of the segment, in seconds of the recording; `end` of it, too
 * @returns undefined if the model returns no times
 */
export function recognizedWords(
  recognition: Recognition,
  { begin, end }: { readonly begin: number; readonly end: number },
): TranscribedWord[] | undefined {
  const { text, startTimes } = recognition;
  if (startTimes.length === 0) return undefined;
  const tokens = placeTokens(recognition);
  const words = wordRanges(text).map((range) => ({
    text: text.slice(range.from, range.to),
    tokens: tokens.filter(({ from, to }) => from < range.to && to > range.from),
  }));
  let before = begin;
  return words.map((word, index): TranscribedWord => {
    const following = words.slice(index + 1).find((each) => each.tokens.length > 0)?.tokens[0]?.start;
    const next = Math.min(end, begin + (following ?? Infinity));
    const first = word.tokens[0];
    const last = word.tokens.at(-1);
    const start = Math.max(before, Math.min(next, first === undefined ? before : begin + first.start));
    const length = last === undefined ? 0 : (last.end ?? last.start + tokenLength);
    const until = Math.max(start, Math.min(next, begin + length));
    before = until;
    return { text: word.text, startMs: ms(start), endMs: ms(until), confidence: confidenceOf(word.tokens) };
  });
}

function ms(seconds: number): number {
  return Math.round(seconds * 1000);
}

/** Finds each token in the text; tokens that do not occur literally are placed between their neighbors. */
function placeTokens({ text, tokens, startTimes, durations, logProbabilities }: Recognition): PlacedToken[] {
  const found = tokens.map((token) => token.replaceAll("▁", " ").trim());
  const ranges: (Range | undefined)[] = [];
  let cursor = 0;
  for (const token of found) {
    const from = token === "" || token.includes("\uFFFD") ? -1 : text.indexOf(token, cursor);
    // A match far away is another one: the tokens between would have nothing.
    const near = from !== -1 && from - cursor <= 64;
    ranges.push(near ? { from, to: from + token.length } : undefined);
    if (near) cursor = from + token.length;
  }
  return tokens.map((_, index) => {
    const before = ranges.slice(0, index).findLast((range) => range !== undefined)?.to ?? 0;
    const after = ranges.slice(index + 1).find((range) => range !== undefined)?.from ?? text.length;
    const duration = durations[index];
    const start = startTimes[index]!;
    return {
      ...(ranges[index] ?? { from: before, to: after }),
      start,
      end: duration === undefined ? undefined : start + duration,
      logProbability: logProbabilities[index],
    };
  });
}

/** Words with the signs at them; scripts without white space have a dictionary. */
function wordRanges(text: string): Range[] {
  const ranges: Range[] = [];
  for (const { 0: chunk, index } of text.matchAll(/\S+/g)) {
    if (!withoutSpaces.test(chunk)) {
      ranges.push({ from: index, to: index + chunk.length });
      continue;
    }
    const first = ranges.length;
    for (const part of dictionaryWords.segment(chunk)) {
      const to = index + part.index + part.segment.length;
      const last = ranges.length > first && part.isWordLike !== true ? ranges.pop() : undefined;
      ranges.push({ from: last?.from ?? index + part.index, to });
    }
  }
  return ranges;
}

function confidenceOf(tokens: readonly PlacedToken[]): number | undefined {
  const known = tokens.map(({ logProbability }) => logProbability).filter((each) => typeof each === "number");
  if (known.length === 0) return undefined;
  const mean = known.reduce((sum, each) => sum + each, 0) / known.length;
  return Math.min(1, Math.exp(mean));
}
