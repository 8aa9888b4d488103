/** Aligns pauses in speech with gaps between words: the assignment in order with the lowest cost. */
import type { SpeechPauses } from "./speech-pauses.ts";

/** Between two words. */
export interface WordGap {
  /** Its expected time if speech had a constant pace, in seconds without pauses. */
  readonly at: number;
  /** Whether punctuation at which a speaker pauses follows. */
  readonly sign: boolean;
}

/** Cost per second of a pause that is assigned to no gap, cost per second of offset, and the bonus of punctuation. Tuned on Flite's voices. */
const costs = { unplaced: 0.3, off: 0.3, sign: 0.2 };

/** The pause in each gap; undefined for gaps without one. */
export function alignPauses(gaps: readonly WordGap[], pauses: SpeechPauses["pauses"]): (number | undefined)[] {
  /** Least cost of the first pauses in the first gaps, by both counts. */
  const least: number[][] = [gaps.length === 0 ? [0] : [0, ...gaps.map(() => 0)]];
  for (const [index, pause] of pauses.entries()) {
    const row: number[] = [];
    for (let count = 0; count <= gaps.length; count++) {
      const unplaced = least[index]![count]! + costs.unplaced * pause.length;
      const elsewhere = row[count - 1] ?? Infinity;
      row.push(Math.min(unplaced, elsewhere, placed(least[index]!, gaps, { count, at: pause.at })));
    }
    least.push(row);
  }
  return trace(least, gaps, pauses);
}

/** The cost with the pause in the last of the first `count` gaps. */
function placed(
  before: readonly number[],
  gaps: readonly WordGap[],
  { count, at }: { count: number; at: number },
): number {
  const gap = gaps[count - 1];
  if (gap === undefined) return Infinity;
  return before[count - 1]! + costs.off * Math.abs(gap.at - at) - (gap.sign ? costs.sign : 0);
}

function trace(least: readonly number[][], gaps: readonly WordGap[], pauses: SpeechPauses["pauses"]) {
  const found: (number | undefined)[] = gaps.map(() => undefined);
  let count = gaps.length;
  for (let index = pauses.length - 1; index >= 0;) {
    const cost = least[index + 1]![count]!;
    if (count > 0 && least[index + 1]![count - 1] === cost) count--;
    else {
      if (cost === placed(least[index]!, gaps, { count, at: pauses[index]!.at })) found[--count] = index;
      index--;
    }
  }
  return found;
}
