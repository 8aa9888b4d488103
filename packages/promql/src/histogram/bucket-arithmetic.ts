/** Adding buckets of two histograms, with compensation for rounding, and merging buckets into wider ones. */
import { CompensatedSum } from "../series/compensated-sum.ts";
import { exponentialBound } from "./bucket-bounds.ts";
import type { Buckets } from "./float-histogram.ts";

/** Counts and what their rounding lost so far, side by side. */
export interface CompensatedBuckets extends Buckets {
  readonly compensations: readonly number[];
}

/** Buckets that have lost nothing yet. */
export function uncompensated(buckets: Buckets): CompensatedBuckets {
  return { ...buckets, compensations: buckets.counts.map(() => 0) };
}

interface Entry {
  index: number;
  readonly sum: CompensatedSum;
}

function fromEntries(entries: readonly Entry[]): CompensatedBuckets {
  return {
    indexes: entries.map((entry) => entry.index),
    counts: entries.map((entry) => entry.sum.sum),
    compensations: entries.map((entry) => entry.sum.compensation),
  };
}

function toEntries(buckets: CompensatedBuckets): Entry[] {
  return buckets.indexes.map((index, position) => ({
    index,
    sum: new CompensatedSum(buckets.counts[position], buckets.compensations[position]),
  }));
}

/** Both histograms' buckets, index by index. */
export function addCompensatedBuckets(left: CompensatedBuckets, right: CompensatedBuckets): CompensatedBuckets {
  const merged: Entry[] = [];
  const leftEntries = toEntries(left);
  const rightEntries = toEntries(right);
  let position = 0;
  for (const entry of rightEntries) {
    while (position < leftEntries.length && leftEntries[position]!.index < entry.index) {
      merged.push(leftEntries[position++]!);
    }
    if (position === leftEntries.length || leftEntries[position]!.index !== entry.index) {
      merged.push(entry);
      continue;
    }
    const target = leftEntries[position++]!;
    target.sum.add(entry.sum.sum);
    if (entry.sum.compensation !== 0) target.sum.add(entry.sum.compensation);
    merged.push(target);
  }
  merged.push(...leftEntries.slice(position));
  return fromEntries(merged);
}

/** The buckets at a lower resolution: each step down merges two neighbors. */
export function reduceResolution(buckets: CompensatedBuckets, from: number, to: number): CompensatedBuckets {
  if (from === to) return buckets;
  const merged: Entry[] = [];
  for (const entry of toEntries(buckets)) {
    entry.index = Math.floor((entry.index - 1) / 2 ** (from - to)) + 1;
    const last = merged.at(-1);
    if (last?.index === entry.index) {
      last.sum.add(entry.sum.sum);
      last.sum.add(entry.sum.compensation);
    } else {
      merged.push(entry);
    }
  }
  return fromEntries(merged);
}

/** Without the leading buckets that end within the zero bucket. */
export function aboveThreshold(buckets: CompensatedBuckets, schema: number, threshold: number): CompensatedBuckets {
  const first = buckets.indexes.findIndex((index) => exponentialBound(index, schema) > threshold);
  if (first === 0) return buckets;
  const from = first === -1 ? buckets.indexes.length : first;
  return {
    indexes: buckets.indexes.slice(from),
    counts: buckets.counts.slice(from),
    compensations: buckets.compensations.slice(from),
  };
}

/** The bounds that both lists have. */
export function commonBounds(left: readonly number[], right: readonly number[]): readonly number[] {
  const inRight = new Set(right);
  return left.filter((bound) => inRight.has(bound));
}

/** Custom buckets for fewer bounds: each goes into the first bucket of the new layout that contains it. */
export function mapToBounds(
  buckets: CompensatedBuckets,
  from: readonly number[],
  to: readonly number[],
): CompensatedBuckets {
  const merged: Entry[] = [];
  for (const entry of toEntries(buckets)) {
    const bound = from[entry.index] ?? Infinity;
    const target = to.findIndex((candidate) => candidate >= bound);
    const index = target === -1 ? to.length : target;
    const last = merged.at(-1);
    const sum = last?.index === index ? last.sum : new CompensatedSum();
    sum.add(entry.sum.sum);
    sum.add(entry.sum.compensation);
    if (last?.index !== index) merged.push({ index, sum });
  }
  return fromEntries(merged.filter(({ sum }) => sum.sum !== 0 || sum.compensation !== 0));
}
