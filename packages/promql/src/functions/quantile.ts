/** The quantile of plain values, as `quantile` and `quantile_over_time` compute it. */

/** Up to this many values, sorting in place by insertion is faster than the built-in sort. */
const fewValues = 48;

/** Interpolates between the two nearest of the first `count` values, which get sorted; NaN counts as the smallest. */
export function quantileOf(quantile: number, values: Float64Array, count: number): number {
  if (quantile >= 0 && quantile <= 1) sortFirst(values, count);
  return quantileOfSorted(quantile, count, (index) => values[index]!);
}

/** The same of values in ascending order, NaN first. */
export function quantileOfSorted(quantile: number, count: number, valueAt: (index: number) => number): number {
  if (count === 0 || Number.isNaN(quantile)) return Number.NaN;
  if (quantile < 0) return -Infinity;
  if (quantile > 1) return Infinity;
  const rank = quantile * (count - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(count - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return valueAt(lower) * (1 - weight) + valueAt(upper) * weight;
}

function sortFirst(values: Float64Array, count: number): void {
  if (count > fewValues) {
    const first = values.subarray(0, count);
    first.sort();
    moveNaNsToFront(first);
    return;
  }
  for (let index = 1; index < count; index++) {
    const value = values[index]!;
    let place = index;
    while (place > 0 && (values[place - 1]! > value || (Number.isNaN(value) && !Number.isNaN(values[place - 1]!)))) {
      values[place] = values[place - 1]!;
      place--;
    }
    values[place] = value;
  }
}

/** Typed arrays sort NaN to the end. */
function moveNaNsToFront(values: Float64Array): void {
  let count = 0;
  while (count < values.length && Number.isNaN(values[values.length - 1 - count]!)) count++;
  if (count === 0) return;
  values.copyWithin(count, 0, values.length - count);
  values.fill(Number.NaN, 0, count);
}
