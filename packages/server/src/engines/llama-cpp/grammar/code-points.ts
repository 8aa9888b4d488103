/** Computes sets of Unicode code points, and the grammars of their UTF-8 bytes. */
import { byteRange, choice, sequence, type Grammar } from "./grammar.ts";

/** Inclusive ranges of code points, in order, not overlapping. */
export type CodePoints = readonly (readonly [low: number, high: number])[];

const last = 0x10ffff;
const surrogates = [0xd800, 0xdfff] as const;

/** Sorts and joins ranges. */
export function union(...sets: readonly CodePoints[]): CodePoints {
  const result: [number, number][] = [];
  for (const [low, high] of sets.flat().sort((a, b) => a[0] - b[0])) {
    const previous = result.at(-1);
    if (previous !== undefined && low <= previous[1] + 1) previous[1] = Math.max(previous[1], high);
    else result.push([low, high]);
  }
  return result;
}

/** All code points that are not in the set. */
export function complement(set: CodePoints): CodePoints {
  const result: [number, number][] = [];
  let next = 0;
  for (const [low, high] of union(set)) {
    if (low > next) result.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= last) result.push([next, last]);
  return result;
}

export function intersection(one: CodePoints, other: CodePoints): CodePoints {
  return complement(union(complement(one), complement(other)));
}

export function contains(set: CodePoints, codePoint: number): boolean {
  return set.some(([low, high]) => codePoint >= low && codePoint <= high);
}

/** Cuts a range where the length of the encoding changes and where continuation bytes are not all possible. */
function encodableRanges(low: number, high: number): [number, number][] {
  const cut = (at: number): [number, number][] => [...encodableRanges(low, at), ...encodableRanges(at + 1, high)];
  for (const boundary of [0x7f, 0x7ff, 0xffff]) if (low <= boundary && high > boundary) return cut(boundary);
  if (high > 0x7f) {
    for (const bits of [6, 12, 18]) {
      const mask = (1 << bits) - 1;
      if ((low & ~mask) === (high & ~mask)) continue;
      if ((low & mask) !== 0) return cut(low | mask);
      if ((high & mask) !== mask) return cut((high & ~mask) - 1);
    }
  }
  return [[low, high]];
}

/** One code point of the set, in UTF-8; surrogates are never matched. */
export function codePointOf(set: CodePoints): Grammar {
  const ranges = intersection(set, complement([surrogates])).flatMap(([low, high]) => encodableRanges(low, high));
  return choice(
    ...ranges.map(([low, high]) => {
      const first = Buffer.from(String.fromCodePoint(low));
      const final = Buffer.from(String.fromCodePoint(high));
      return sequence(...Array.from(first, (byte, index) => byteRange(byte, final[index]!)));
    }),
  );
}
