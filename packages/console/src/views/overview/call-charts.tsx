/** The overview's charts: calls by model, durations, tokens. A selection zooms. */
import { Chart, Legend } from "../../design/chart/chart.tsx";
import type { ChartSeries } from "../../design/chart/chart-props.ts";
import { seriesColor } from "../../design/chart/chart-color.ts";
import { formatCount, formatDuration } from "../../design/format.ts";
import { zoomTo } from "../../state/time-range.ts";
import type { CallsSummary, Values } from "./calls-summary.ts";

/** More models than this share one color as "others". */
const shownModels = 6;

export function CallCharts({ summary }: { readonly summary: CallsSummary }) {
  const { p50Ms, p95Ms, firstTokenP50Ms, inputTokens, outputTokens, errors } = summary;
  const durations: ChartSeries[] = [
    { label: "p50", color: "--series-1", values: p50Ms },
    { label: "p95", color: "--series-3", values: p95Ms },
    { label: "time to first token, p50", color: "--series-4", values: firstTokenP50Ms },
  ];
  const tokens: ChartSeries[] = [
    { label: "output", color: "--series-2", values: outputTokens },
    { label: "input", color: "--series-1", values: inputTokens },
  ];
  return (
    <div class="overview-charts">
      <ChartCard
        title="Calls by model"
        summary={summary}
        series={modelSeries(summary)}
        kind="stacked-bars"
        format={formatCount}
      />
      <ChartCard
        title="Failed calls"
        summary={summary}
        series={[{ label: "failed", color: "--error", values: errors }]}
        kind="bars"
        format={formatCount}
      />
      <ChartCard title="Duration" summary={summary} series={durations} kind="line" format={formatDuration} />
      <ChartCard title="Tokens" summary={summary} series={tokens} kind="stacked-bars" format={formatCount} />
    </div>
  );
}

function ChartCard({
  title,
  summary: { times, moments, stepSeconds },
  series,
  kind,
  format,
}: {
  readonly title: string;
  readonly summary: CallsSummary;
  readonly series: readonly ChartSeries[];
  readonly kind: "line" | "bars" | "stacked-bars";
  readonly format: (value: number) => string;
}) {
  // A value belongs to the step that ends at its time.
  const starts = times.map((ms) => ms - stepSeconds * 1000);
  return (
    <section class="card stack">
      <h2>{title}</h2>
      <Chart
        label={`${title} over time`}
        times={starts}
        moments={moments}
        series={series}
        kind={kind}
        format={format}
        syncKey="overview"
        height={160}
        onZoom={zoomTo}
      />
      {series.length > 1 && <Legend series={series} />}
    </section>
  );
}

function modelSeries({ callsByModel, times }: CallsSummary): ChartSeries[] {
  const total = (values: Values) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const sorted = callsByModel.toSorted((a, b) => total(b.values) - total(a.values));
  const shown = sorted.slice(0, shownModels).map(({ model, values }, index) => {
    return { label: model, color: seriesColor(index), values };
  });
  const others = sorted.slice(shownModels);
  if (others.length === 0) return shown;
  const values = times.map((_, index) => others.reduce((sum, each) => sum + (each.values[index] ?? 0), 0));
  return [...shown, { label: `${others.length} others`, color: "--series-8", values }];
}
