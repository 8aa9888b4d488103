/** Series as lines, stacked areas or a heat map, with exemplars and a legend. */
import { useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { Chart, Legend } from "../../design/chart/chart.tsx";
import { EmptyState } from "../../design/states.tsx";
import { zoomTo } from "../../state/time-range.ts";
import { ExemplarPoints, geometryOf, toPoints, type PlotGeometry } from "./exemplar-points.tsx";
import { HeatmapChart } from "./heatmap.tsx";
import { toHeatmap, type Heatmap } from "./heatmap-data.ts";
import { drawsExemplars, hiddenSeries, resultView, showsExemplars, toggleSeries } from "./metrics-address.ts";
import type { ExemplarSeriesJson } from "./prometheus.ts";
import { chartSeries, commonTimes, type ResultSeries } from "./result-series.ts";
import type { StepTimes } from "./step.ts";
import { formatValue, type Unit } from "./units.ts";

const chartHeight = 340;

export function ResultChart({
  all,
  series,
  times,
  unit,
  exemplars,
}: {
  /** A heat map adds up all series. */
  readonly all: readonly ResultSeries[];
  readonly series: readonly ResultSeries[];
  readonly times: StepTimes;
  readonly unit: Unit;
  readonly exemplars: readonly ExemplarSeriesJson[];
}) {
  const geometry = useSignal<PlotGeometry | undefined>(undefined);
  const onDraw = (plot: uPlot): void => {
    const drawn = geometryOf(plot);
    if (JSON.stringify(drawn) !== JSON.stringify(geometry.peek())) geometry.value = drawn;
  };
  const points = useMemo(() => toPoints(exemplars), [exemplars]);
  const isHeatmap = resultView.value === "heatmap";
  const heatmap = useMemo(() => (isHeatmap ? toHeatmap(all) : undefined), [all, isHeatmap]);
  const format = (value: number): string => formatValue(value, unit);
  // Observations of histograms are durations, as far as the exemplars of this server's own series go.
  const formatExemplar = (value: number): string => formatValue(value, exemplarUnit(exemplars));
  if (isHeatmap && heatmap === undefined) {
    return (
      <EmptyState title="The result has no histograms" icon="metrics">
        <p>
          A heat map needs native histograms, or the buckets of classic ones, for example{" "}
          <code>sum by (le) (increase(inference_duration_seconds_bucket[5m]))</code>.
        </p>
      </EmptyState>
    );
  }
  return (
    <div class="metrics-chart">
      {heatmap === undefined ? (
        <Lines key={unit} series={series} times={times} format={format} onDraw={onDraw} />
      ) : (
        <HeatmapChart
          heatmap={heatmap}
          moments={times}
          stepMs={times.stepMs}
          format={formatExemplar}
          height={chartHeight}
          onZoom={zoomTo}
          onDraw={onDraw}
        />
      )}
      {showsExemplars.value && drawsExemplars.value && geometry.value !== undefined && (
        <ExemplarPoints
          points={points}
          geometry={geometry.value}
          heightOf={
            heatmap === undefined
              ? unit === "seconds"
                ? (value) => value
                : undefined
              : (value) => rowOf(value, heatmap)
          }
          format={formatExemplar}
        />
      )}
    </div>
  );
}

function Lines({
  series,
  times,
  format,
  onDraw,
}: {
  readonly series: readonly ResultSeries[];
  readonly times: StepTimes;
  readonly format: (value: number) => string;
  readonly onDraw: (plot: uPlot) => void;
}) {
  const common = useMemo(() => commonTimes(series), [series]);
  const hidden = hiddenSeries.value;
  const drawn = useMemo(() => chartSeries(series, common, hidden), [series, common, hidden]);
  const isStacked = useComputed(() => resultView.value === "stacked");
  return (
    <>
      <Chart
        times={common}
        series={drawn}
        kind={isStacked.value ? "stacked-area" : "line"}
        format={format}
        height={chartHeight}
        moments={times}
        label={`${series.length} series over time`}
        onZoom={zoomTo}
        onDraw={onDraw}
      />
      <div class="metrics-legend">
        <Legend series={drawn} onToggle={(index) => toggleSeries(series[index]!.key)} />
      </div>
    </>
  );
}

/** Between the bounds of its bucket. */
function rowOf(value: number, { buckets }: Heatmap): number {
  const row = buckets.findIndex(({ upper }) => value <= upper);
  return (row === -1 ? buckets.length - 1 : row) + 0.5;
}

function exemplarUnit(exemplars: readonly ExemplarSeriesJson[]): Unit {
  const name = exemplars[0]?.seriesLabels["__name__"] ?? "";
  return /_seconds(?:_bucket|_sum|_count|_total)?$/.test(name) ? "seconds" : "none";
}
