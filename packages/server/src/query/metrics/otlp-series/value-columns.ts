/** Sorts the points of a series, which come from the store as sorted runs with duplicates of points that were sent twice. */

export interface ValueColumns {
  /** Unix milliseconds, strictly rising. */
  readonly timestampsMs: Float64Array;
  readonly values: Float64Array;
  /** 0 if unknown; absent if no point has one. */
  readonly startTimestampsMs: Float64Array | undefined;
  /** 1 for stale markers; absent if there are none. */
  readonly stale: Uint8Array | undefined;
}

/** The same points in order of time; of several with the same time, the last one. */
export function inTimeOrder(columns: ValueColumns): ValueColumns {
  const { timestampsMs } = columns;
  if (isRising(timestampsMs)) return columns;
  const order = keepLast(orderOf(timestampsMs), timestampsMs);
  const pick = (column: Float64Array): Float64Array => Float64Array.from(order, (index) => column[index]!);
  return {
    timestampsMs: pick(timestampsMs),
    values: pick(columns.values),
    startTimestampsMs: columns.startTimestampsMs && pick(columns.startTimestampsMs),
    stale: columns.stale && Uint8Array.from(order, (index) => columns.stale![index]!),
  };
}

function isRising(times: Float64Array): boolean {
  for (let index = 1; index < times.length; index++) if (times[index]! <= times[index - 1]!) return false;
  return true;
}

/** Usually the runs do not overlap in time and only need to be concatenated. */
function orderOf(times: Float64Array): Uint32Array {
  const starts = [0];
  for (let index = 1; index < times.length; index++) if (times[index]! < times[index - 1]!) starts.push(index);
  const runs = starts.map((start, run) => ({ start, end: starts[run + 1] ?? times.length }));
  runs.sort((left, right) => times[left.start]! - times[right.start]! || left.start - right.start);
  const overlap = runs.some(({ start }, run) => run > 0 && times[start]! <= times[runs[run - 1]!.end - 1]!);
  const order = Uint32Array.from(times, (_, index) => index);
  if (overlap) return order.sort((left, right) => times[left]! - times[right]! || left - right);
  let at = 0;
  for (const { end, start } of runs) for (let index = start; index < end; index++) order[at++] = index;
  return order;
}

function keepLast(order: Uint32Array, times: Float64Array): Uint32Array {
  return order.filter((index, at) => at + 1 === order.length || times[order[at + 1]!] !== times[index]);
}
