/** What the view "Spend" knows: groups, their days, and totals. */
import type { Spend } from "@sounding/client";
import { requestJson } from "../../api/request.ts";
import type { ChartSeries } from "../../design/chart/chart-props.ts";
import { seriesColor } from "../../design/chart/chart-color.ts";
import { parameters } from "../../state/address.ts";
import { preferences } from "../../state/preferences.ts";
import type { Moments } from "../../state/time-range.ts";
import { dimension, filters, mayReadAll, tagName } from "./spend-address.ts";

export type SpendRow = Spend["data"][number];

export interface SpendSummary {
  readonly moments: Moments;
  /** The name of the groups, as in the API. */
  readonly by: string;
  readonly groups: Spend;
  /** The same by day. */
  readonly days: Spend;
  /** The currency of most costs, which the chart shows. */
  readonly currency: string;
  /** In milliseconds. */
  readonly dayStarts: readonly number[];
  readonly lastDayEndMs: number;
  readonly series: readonly ChartSeries[];
}

const shownSeries = 7;
const mostDayGroups = 10_000;

/** @throws ApiError */
export async function readSpend(moments: Moments, signal: AbortSignal): Promise<SpendSummary> {
  const by = dimension.value === "tag" ? `tag:${tagName.value}` : dimension.value;
  const zone = preferences.value.timeZone === "utc" ? "UTC" : new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const filtered = filters.value;
  const isOfAll = dimension.value === "organization" || filtered.some((each) => each.dimension === "organization");
  const read = (names: string, limit: number): Promise<Spend> =>
    requestJson<Spend>(isOfAll && mayReadAll.value ? "admin/v1/spend" : "observability/spend", {
      query: {
        by: names,
        start: new Date(moments.startMs).toISOString(),
        end: new Date(moments.endMs).toISOString(),
        time_zone: zone,
        limit,
        project_name: parameters.value.get("project") ?? undefined,
        ...Object.fromEntries(filtered.map(({ name, value }) => [name, value])),
      },
      signal,
    });
  const [groups, days, totals] = await Promise.all([
    read(by, shownGroups),
    read(`day,${by}`, mostDayGroups),
    read("day", mostDayGroups),
  ]);
  const currency = groups.totals.toSorted((a, b) => Number(b.cost) - Number(a.cost))[0]?.currency ?? "";
  const { dayStarts, lastDayEndMs } = startsOfDays(moments);
  const series = seriesOf({ by, currency, dayStarts, days, groups, totals });
  return { moments, by, groups, days, currency, dayStarts, lastDayEndMs, series };
}

export const shownGroups = 200;

/** The name that people know, where there is one. */
export function labelOf({ group, key_name: key, organization_name: organization }: SpendRow, by: string): string {
  const known = by === "key" ? key : by === "organization" ? organization : undefined;
  return known ?? group[by] ?? "(none)";
}

function isUtc(): boolean {
  return preferences.value.timeZone === "utc";
}

/** Every day of the range, those without calls included, and the end of the last one. */
function startsOfDays({ endMs, startMs }: Moments): { readonly dayStarts: number[]; readonly lastDayEndMs: number } {
  const dayStarts: number[] = [];
  const first = new Date(startMs);
  for (let days = 0; ; days += 1) {
    const start = isUtc()
      ? Date.UTC(first.getUTCFullYear(), first.getUTCMonth(), first.getUTCDate() + days)
      : new Date(first.getFullYear(), first.getMonth(), first.getDate() + days).getTime();
    if (start >= endMs) return { dayStarts, lastDayEndMs: start };
    dayStarts.push(start);
  }
}

function startOf(date: string): number {
  return Date.parse(isUtc() ? `${date}T00:00:00Z` : `${date}T00:00:00`);
}

interface SeriesParts extends Pick<SpendSummary, "by" | "currency" | "dayStarts" | "days" | "groups"> {
  /** By day. */
  readonly totals: Spend;
}

/** The groups with the highest cost, and the others together. */
function seriesOf({ by, currency, dayStarts, days, groups, totals }: SeriesParts): ChartSeries[] {
  const costsOf = (rows: readonly SpendRow[]): number[] => {
    const byDay = new Map(rows.map((row) => [startOf(row.group["day"] ?? ""), Number(row.cost)]));
    return dayStarts.map((start) => byDay.get(start) ?? 0);
  };
  const own = (rows: readonly SpendRow[]): SpendRow[] => rows.filter((row) => row.currency === currency);
  const priced = own(groups.data).filter(({ cost }) => cost !== "0");
  const shown = priced.slice(0, shownSeries).map((row, index): ChartSeries => {
    const values = costsOf(own(days.data).filter(({ group }) => group[by] === row.group[by]));
    return { label: labelOf(row, by), color: seriesColor(index), values };
  });
  if (priced.length <= shownSeries && !groups.truncated) return shown;
  const all = costsOf(own(totals.data));
  const others = all.map((total, index) =>
    Math.max(0, total - shown.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)),
  );
  return [...shown, { label: "others", color: "--series-8", values: others }];
}
