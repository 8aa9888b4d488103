/** Steps back in time, each eight times as long as all before it: the newest few of many rows are found without looking at the rest. */
import type { TimeRange } from "./time-window.ts";

const firstStepNanos = 60_000_000_000n;

/** The range in pieces, newest first, without gaps. What lies ahead of `nowUnixNano` belongs to the first; steps before the range begins are left out. */
export function* expandingWindows({ fromUnixNano, toUnixNano }: TimeRange, nowUnixNano: bigint): Generator<TimeRange> {
  let newest = toUnixNano;
  for (let reach = firstStepNanos; newest >= fromUnixNano; reach *= 8n) {
    const oldest = nowUnixNano - reach;
    if (oldest > newest) continue;
    yield { fromUnixNano: oldest > fromUnixNano ? oldest : fromUnixNano, toUnixNano: newest };
    newest = oldest - 1n;
  }
}
