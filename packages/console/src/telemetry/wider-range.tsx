/** Widens the time range of a list in which nothing was found. */
import { setTimeRange, timeRange } from "../state/time-range.ts";

const wide = { from: "now-7d", to: "now" };

export function WiderRange() {
  const { from, to } = timeRange.value;
  if (from === wide.from && to === wide.to) return null;
  return (
    <button type="button" class="button" onClick={() => setTimeRange(wide)}>
      Show the last 7 days
    </button>
  );
}
