/** Maps what is spoken to what is written: a text in which parts are replaced by the words for them. */
import type { TextRange } from "./sentences.ts";

export interface SpokenText {
  readonly text: string;
  /** The place in the input of the spoken characters from `start` to `end`. */
  source(start: number, end: number): TextRange;
}

/** Other words for a part of a text; empty for signs that are silent. */
export interface Rewrite {
  readonly start: number;
  readonly end: number;
  readonly spoken: string;
}

/** A part of the text as it is written. */
export function asWritten(text: string, { offset, length }: TextRange): SpokenText {
  return {
    text: text.slice(offset, offset + length),
    source: (start, end) => ({ offset: offset + start, length: end - start }),
  };
}

/** A part of the text with its rewrites, which are in order and do not overlap. */
export function rewritten(text: string, range: TextRange, rewrites: readonly Rewrite[]): SpokenText {
  if (rewrites.length === 0) return asWritten(text, range);
  let spoken = "";
  const starts: number[] = [];
  const ends: number[] = [];
  const end = range.offset + range.length;
  let cursor = range.offset;
  const copyUntil = (until: number): void => {
    for (; cursor < until; cursor++) {
      spoken += text[cursor]!;
      starts.push(cursor);
      ends.push(cursor + 1);
    }
  };
  for (const rewrite of rewrites) {
    copyUntil(rewrite.start);
    spoken += rewrite.spoken;
    for (let index = 0; index < rewrite.spoken.length; index++) {
      starts.push(rewrite.start);
      ends.push(rewrite.end);
    }
    cursor = rewrite.end;
  }
  copyUntil(end);
  return {
    text: spoken,
    source(start, until) {
      const offset = starts[start] ?? end;
      return { offset, length: (ends[until - 1] ?? offset) - offset };
    },
  };
}
