/** The quantile of plain values, as `quantile` and `quantile_over_time` compute it. */

/** Interpolates between the two nearest of the values, which get sorted in place; NaN counts as the smallest. */
export function quantileOf(quantile: number, values: Float64Array): number {
  const { length } = values;
  if (length === 0 || Number.isNaN(quantile)) return Number.NaN;
  if (quantile < 0) return -Infinity;
  if (quantile > 1) return Infinity;
  values.sort();
  moveNaNsToFront(values);
  const rank = quantile * (length - 1);
  const lower = Math.max(0, Math.floor(rank));
  const upper = Math.min(length - 1, lower + 1);
  const weight = rank - Math.floor(rank);
  return values[lower]! * (1 - weight) + values[upper]! * weight;
}

/** Typed arrays sort NaN to the end. */
function moveNaNsToFront(values: Float64Array): void {
  let count = 0;
  while (count < values.length && Number.isNaN(values[values.length - 1 - count]!)) count++;
  if (count === 0) return;
  values.copyWithin(count, 0, values.length - count);
  values.fill(Number.NaN, 0, count);
}
