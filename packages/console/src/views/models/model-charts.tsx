/** Calls, latency and tokens of a model over time, as the organization's telemetry has them. */
import { useQuery } from "../../api/use-query.ts";
import { Chart, Legend } from "../../design/chart/chart.tsx";
import type { ChartSeries } from "../../design/chart/chart-props.ts";
import { formatCount, formatDuration } from "../../design/format.ts";
import { parameter } from "../../state/address.ts";
import { moments, zoomTo } from "../../state/time-range.ts";
import { modelMatcher, querySeries, type Series, type SeriesSet } from "./series.ts";

const selectedProject = parameter("project");

interface Panel {
  readonly title: string;
  /** Whether only chat models have it. */
  readonly ofChats: boolean;
  readonly kind: "stacked-bars" | "line";
  readonly format: (value: number) => string;
  readonly load: (matcher: string, signal: AbortSignal) => Promise<SeriesSet>;
  readonly describe: (series: Series) => Pick<ChartSeries, "label" | "color">;
}

const statusColors: Readonly<Record<string, string>> = {
  success: "--series-1",
  failure: "--error",
  timeout: "--warning",
};

async function quantiles(metric: string, matcher: string, signal: AbortSignal): Promise<SeriesSet> {
  const sets = await Promise.all(
    [0.5, 0.95].map(async (quantile) => {
      const rate = `sum by (le) (rate(${metric}_bucket${matcher}[STEP]))`;
      const set = await querySeries(`histogram_quantile(${quantile}, ${rate})`, moments.value, signal);
      return { ...set, series: set.series.map((each) => ({ ...each, labels: { quantile: `p${quantile * 100}` } })) };
    }),
  );
  return { times: sets[0]!.times, series: sets.flatMap(({ series }) => series) };
}

const byQuantile = ({ labels }: Series) => ({
  label: labels["quantile"] ?? "",
  color: labels["quantile"] === "p50" ? "--series-2" : "--series-3",
});
const inSeconds = (seconds: number): string => formatDuration(seconds * 1000);

const panels: readonly Panel[] = [
  {
    title: "Calls",
    ofChats: false,
    kind: "stacked-bars",
    format: formatCount,
    load: (matcher, signal) =>
      querySeries(`sum by (status) (increase(inference_requests_total${matcher}[STEP]))`, moments.value, signal),
    describe: ({ labels }) => ({
      label: labels["status"] ?? "",
      color: statusColors[labels["status"] ?? ""] ?? "--series-8",
    }),
  },
  {
    title: "Latency",
    ofChats: false,
    kind: "line",
    format: inSeconds,
    load: (matcher, signal) => quantiles("inference_duration_seconds", matcher, signal),
    describe: byQuantile,
  },
  {
    title: "Time to first token",
    ofChats: true,
    kind: "line",
    format: inSeconds,
    load: (matcher, signal) => quantiles("inference_time_to_first_token_seconds", matcher, signal),
    describe: byQuantile,
  },
  {
    title: "Tokens",
    ofChats: true,
    kind: "stacked-bars",
    format: formatCount,
    load: (matcher, signal) =>
      querySeries(`sum by (token_type) (increase(token_usage_total${matcher}[STEP]))`, moments.value, signal),
    describe: ({ labels }) => ({
      label: labels["token_type"] ?? "",
      color: labels["token_type"] === "input" ? "--series-4" : "--series-7",
    }),
  },
];

/** @param ids the model's ID and its aliases, since telemetry has the one that the caller sent */
export function ModelCharts({ ids, chats }: { readonly ids: readonly string[]; readonly chats: boolean }) {
  const shown = panels.filter(({ ofChats }) => chats || !ofChats);
  return (
    <div class="models-charts">
      {shown.map((panel) => (
        <ChartPanel key={panel.title} panel={panel} matcher={modelMatcher(ids, selectedProject.value)} />
      ))}
    </div>
  );
}

function ChartPanel({ panel, matcher }: { readonly panel: Panel; readonly matcher: string }) {
  const query = useQuery(
    (signal) => {
      // Read here, so that a change of the range sends the query again.
      void moments.value;
      return panel.load(matcher, signal);
    },
    [matcher],
  );
  const data = query.data.value;
  const series = (data?.series ?? []).map((each) => ({ ...panel.describe(each), values: each.values }));
  return (
    <section class="card models-chart">
      <div class="row">
        <h3>{panel.title}</h3>
        <span class="spread">{series.length > 0 && <Legend series={series} />}</span>
      </div>
      {query.error.value !== undefined && data === undefined ? (
        <div class="models-nothing" role="alert">
          <p class="foreign muted">{query.error.value.message}</p>
          <button type="button" class="button" onClick={query.reload}>
            Try again
          </button>
        </div>
      ) : series.length === 0 ? (
        <p class="models-nothing muted">{data === undefined ? "Loading…" : "Nothing in this time range"}</p>
      ) : (
        <Chart
          times={data!.times}
          series={series}
          kind={panel.kind}
          format={panel.format}
          label={`${panel.title} over time`}
          moments={moments.value}
          onZoom={zoomTo}
          syncKey="model"
          height={160}
        />
      )}
    </section>
  );
}
