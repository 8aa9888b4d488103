/** The number of lines over time by level; selecting a part zooms to it. */
import type { LogHistogram as Counts } from "@sounding/client";
import { useMemo } from "preact/hooks";
import type { Query } from "../../api/use-query.ts";
import { Chart } from "../../design/chart/chart.tsx";
import type { ChartSeries } from "../../design/chart/chart-props.ts";
import { formatCount } from "../../design/format.ts";
import { Notice } from "../../design/states.tsx";
import { moments, zoomTo } from "../../state/time-range.ts";
import type { Level } from "./log-entry.ts";
import { shownLevels } from "./log-filters.ts";

/** The last is at the bottom of the stack. */
const series: readonly (readonly [Level, color: string])[] = [
  ["debug", "--logs-debug"],
  ["info", "--logs-info"],
  ["warning", "--logs-warning"],
  ["error", "--error"],
];

export function LogHistogram({ counts: { data, error, reload } }: { readonly counts: Query<Counts> }) {
  const counts = data.value;
  const shown = shownLevels.value;
  const times = useMemo(() => counts?.buckets.map(({ start }) => Date.parse(start)) ?? [], [counts]);
  const bars = useMemo(
    () =>
      series.map(([level, color]): ChartSeries => {
        const values = counts?.buckets.map((bucket) => bucket[level] || null) ?? [];
        return { label: level, color, values, hidden: !shown.includes(level) };
      }),
    [counts, shown],
  );
  return (
    <div class="logs-histogram">
      {error.value !== undefined && counts === undefined ? (
        <Notice kind="error">
          Lines could not be counted: <span class="foreign">{error.value.message}</span>{" "}
          <button type="button" class="button" onClick={reload}>
            Try again
          </button>
        </Notice>
      ) : (
        <Chart
          label="Lines over time by level"
          kind="stacked-bars"
          height={112}
          times={times}
          series={bars}
          moments={moments.value}
          format={formatCount}
          onZoom={zoomTo}
        />
      )}
    </div>
  );
}
