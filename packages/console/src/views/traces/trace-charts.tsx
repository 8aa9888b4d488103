/** Traces over time: their number with the failed ones in colour, and their durations. A selection zooms. */
import type { TraceHistogram } from "@sounding/client";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { Chart, Legend } from "../../design/chart/chart.tsx";
import type { ChartSeries } from "../../design/chart/chart-props.ts";
import { formatCount, formatDuration } from "../../design/format.ts";
import { Notice } from "../../design/states.tsx";
import { moments, zoomTo } from "../../state/time-range.ts";
import { traceFilters } from "./trace-filters.ts";
import { queryTimes } from "./trace-list.ts";

const height = 108;
const none: TraceHistogram = { step_seconds: 60, buckets: [] };

export function TraceCharts() {
  const { data, error } = useQuery((signal) => {
    const json = { ...traceFilters.value, ...queryTimes(moments.value) };
    return requestJson<TraceHistogram>("observability/traces/histogram", { json, signal });
  });
  if (error.value !== undefined) {
    return (
      <Notice kind="warning">
        The charts could not be loaded: <span class="foreign">{error.value.message}</span>
      </Notice>
    );
  }
  const { buckets } = data.value ?? none;
  const times = buckets.map(({ start }) => Date.parse(start));
  const counts: ChartSeries[] = [
    { label: "Failed", color: "--error", values: buckets.map(({ failed }) => failed) },
    { label: "Others", color: "--series-1", values: buckets.map(({ traces, failed }) => traces - failed) },
  ];
  const durations: ChartSeries[] = [
    { label: "p95", color: "--series-3", values: buckets.map(({ duration_ms }) => duration_ms.p95) },
    { label: "Median", color: "--series-2", values: buckets.map(({ duration_ms }) => duration_ms.p50) },
  ];
  const shared = { times, height, moments: moments.value, onZoom: zoomTo, syncKey: "traces" };
  const total = buckets.reduce((sum, { traces }) => sum + traces, 0);
  const failed = buckets.reduce((sum, bucket) => sum + bucket.failed, 0);
  return (
    <div class={`traces-charts ${data.value === undefined ? "loading" : ""}`}>
      <section class="traces-chart">
        <header>
          <h2>
            {data.value === undefined ? "Traces" : `${formatCount(total)} ${total === 1 ? "trace" : "traces"}`}
            {failed > 0 && <span class="muted">, {formatCount(failed)} failed</span>}
          </h2>
          <Legend series={counts} />
        </header>
        <Chart
          {...shared}
          series={counts}
          kind="stacked-bars"
          format={formatCount}
          label={`Traces over time: ${total}, of which ${failed} failed`}
        />
      </section>
      <section class="traces-chart">
        <header>
          <h2>Duration</h2>
          <Legend series={durations} />
        </header>
        <Chart
          {...shared}
          series={durations}
          format={formatDuration}
          label="Durations of traces over time: the median and the 95th percentile"
        />
      </section>
    </div>
  );
}
