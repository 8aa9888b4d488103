/** Reads a request for spend: its range, its days, what it groups by. */
import { defaultSpendGroups, defaultSpendWindow, type SpendQuery } from "../../api/spend.ts";
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";
import { nowUnixNano, parseDuration } from "../time-window.ts";
import type { SpendSearch } from "./read-spend.ts";
import { filterConditions, needsDetails, parseGroupings } from "./spend-groups.ts";
import { parseDayOrTime, ZonedDays } from "./spend-days.ts";

const mostDays = inputLimit({
  area: "Logs, traces and metrics",
  bounds: "Days in the range of a query of spend",
  value: 1100,
  error: "invalid_request",
});
const dayMs = 86_400_000;

export interface SpendRequest extends Omit<SpendSearch, "signal" | "currency"> {
  readonly days: ZonedDays;
}

/** @throws AppError invalid_request */
export async function readSpendRequest(query: SpendQuery, project: string | undefined): Promise<SpendRequest> {
  const days = new ZonedDays(query.time_zone ?? "UTC");
  const groupings = parseGroupings(query.by ?? "");
  const range = readRange(query, days);
  const hasDays = groupings.some(({ dimension }) => dimension === "day");
  return {
    ...range,
    days,
    groupings,
    conditions: filterConditions(query, project),
    isDetailed: needsDetails(groupings, query),
    isFiltered: needsDetails([], query),
    dayStarts: hasDays ? await days.startsIn(range.fromMs, range.toMs) : [],
    limit: query.limit ?? defaultSpendGroups,
  };
}

function readRange(
  { end, start, time_window: timeWindow }: SpendQuery,
  days: ZonedDays,
): Pick<SpendRequest, "fromMs" | "toMs"> {
  if (start != null && timeWindow != null) {
    throw new AppError("invalid_request", "start and time_window are both set; send one of them.", { param: "start" });
  }
  const toMs = millisecondsOf(end == null ? nowUnixNano() : parseDayOrTime(end, "end", days));
  const window = (): number => millisecondsOf(parseDuration(timeWindow ?? defaultSpendWindow, "time_window"));
  const fromMs = start == null ? Math.max(0, toMs - window()) : millisecondsOf(parseDayOrTime(start, "start", days));
  const param = start == null ? "time_window" : "start";
  if (fromMs >= toMs) {
    throw new AppError(
      "invalid_request",
      `start is ${showValue(start)}; expected a time before the end of the range.`,
      { param },
    );
  }
  if (toMs - fromMs > mostDays * dayMs) {
    const count = Math.ceil((toMs - fromMs) / dayMs);
    throw new AppError("invalid_request", `The range has ${count} days; expected at most ${mostDays}.`, { param });
  }
  return { fromMs, toMs };
}

function millisecondsOf(nanos: bigint): number {
  return Number(nanos / 1_000_000n);
}
