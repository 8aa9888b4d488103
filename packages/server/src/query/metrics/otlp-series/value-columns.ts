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

/** The points without those whose value is absent, which is NaN in the store; stale markers have no value. */
export function withoutAbsent(columns: ValueColumns): ValueColumns {
  const { stale, startTimestampsMs, timestampsMs, values } = columns;
  const isPresent = (value: number, index: number): boolean => !Number.isNaN(value) || stale?.[index] === 1;
  if (values.every(isPresent)) return columns;
  const kept = Uint32Array.from(values.keys()).filter((index) => isPresent(values[index]!, index));
  const pick = (from: Float64Array): Float64Array => Float64Array.from(kept, (index) => from[index]!);
  return {
    timestampsMs: pick(timestampsMs),
    values: pick(values),
    startTimestampsMs: startTimestampsMs && pick(startTimestampsMs),
    stale: stale && Uint8Array.from(kept, (index) => stale[index]!),
  };
}

/** Points from `start` to before `end`, in order of time. */
interface Run {
  readonly start: number;
  readonly end: number;
}

/** The same points in order of time; of several with the same time, the last one. */
export function inTimeOrder(columns: ValueColumns): ValueColumns {
  const runs = runsOf(columns.timestampsMs);
  return runs.length <= 1 ? columns : (concatenated(columns, runs) ?? sorted(columns));
}

/** The longest runs of strictly rising times. */
function runsOf(times: Float64Array): Run[] {
  const runs: Run[] = [];
  let start = 0;
  for (let index = 1; index <= times.length; index++) {
    if (index < times.length && times[index]! > times[index - 1]!) continue;
    runs.push({ start, end: index });
    start = index;
  }
  return runs;
}

/** The usual case: runs that do not overlap in time. Whole runs are copied, because these are all points of large queries. */
function concatenated(columns: ValueColumns, runs: Run[]): ValueColumns | undefined {
  const { timestampsMs: times } = columns;
  runs.sort((left, right) => times[left.start]! - times[right.start]!);
  for (let run = 1; run < runs.length; run++)
    if (times[runs[run]!.start]! <= times[runs[run - 1]!.end - 1]!) return undefined;
  const copy = <Numbers extends Float64Array | Uint8Array>(from: Numbers, to: Numbers): Numbers => {
    let at = 0;
    for (const { end, start } of runs) {
      to.set(from.subarray(start, end), at);
      at += end - start;
    }
    return to;
  };
  return columnsBy(columns, {
    floats: (from) => copy(from, new Float64Array(from.length)),
    bytes: (from) => copy(from, new Uint8Array(from.length)),
  });
}

function sorted(columns: ValueColumns): ValueColumns {
  const { timestampsMs: times } = columns;
  const order = new Uint32Array(times.length);
  for (let index = 0; index < order.length; index++) order[index] = index;
  order.sort((left, right) => times[left]! - times[right]! || left - right);
  let count = 0;
  for (let at = 0; at < order.length; at++) {
    const index = order[at]!;
    if (at + 1 === order.length || times[order[at + 1]!] !== times[index]) order[count++] = index;
  }
  const pick = <Numbers extends Float64Array | Uint8Array>(from: Numbers, to: Numbers): Numbers => {
    for (let at = 0; at < count; at++) to[at] = from[order[at]!]!;
    return to;
  };
  return columnsBy(columns, {
    floats: (from) => pick(from, new Float64Array(count)),
    bytes: (from) => pick(from, new Uint8Array(count)),
  });
}

function columnsBy(
  { stale, startTimestampsMs, timestampsMs, values }: ValueColumns,
  {
    bytes,
    floats,
  }: { readonly floats: (from: Float64Array) => Float64Array; readonly bytes: (from: Uint8Array) => Uint8Array },
): ValueColumns {
  return {
    timestampsMs: floats(timestampsMs),
    values: floats(values),
    startTimestampsMs: startTimestampsMs && floats(startTimestampsMs),
    stale: stale && bytes(stale),
  };
}
