/** One metric of the gallery: its value over the time range, and a small chart. It asks once it comes into sight. */
import type { AsyncSounding } from "@sounding/client";
import { useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { Chart } from "../../design/chart/chart.tsx";
import { chartColor } from "../../design/chart/chart-color.ts";
import { href } from "../../state/address.ts";
import { moments, timeRange, zoomTo, type Moments } from "../../state/time-range.ts";
import { project } from "./metrics-address.ts";
import type { ResultJson } from "./prometheus.ts";
import { chartSeries, commonTimes, fullName, toSeries } from "./result-series.ts";
import { formatValue, unitOfPreset } from "./units.ts";

/** The answer of `GET /observability/metrics`. */
export type MetricList = Awaited<ReturnType<AsyncSounding["metrics"]["list"]>>;
type Metric = MetricList["data"][number];

interface MetricAnswer {
  readonly query: string;
  readonly data: ResultJson;
}

interface CardAnswer {
  /** Over the whole time range. */
  readonly total: MetricAnswer;
  readonly overTime: MetricAnswer;
}

const chartHeight = 96;
/** Series of one card: more are a blur. */
const maximumSeries = 5;

export function GalleryCard({
  metric,
  service,
  model,
}: {
  readonly metric: Metric;
  readonly service: string | undefined;
  readonly model: string | undefined;
}) {
  const card = useRef<HTMLElement>(null);
  const isVisible = useSignal(false);
  // What is out of sight keeps the range that it was last seen with.
  const range = useSignal<Moments | undefined>(undefined);
  useSignalEffect(() => {
    if (isVisible.value) range.value = moments.value;
  });
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => void (isVisible.value = entry?.isIntersecting ?? false), {
      rootMargin: "100px",
    });
    observer.observe(card.current!);
    return () => observer.disconnect();
  }, []);
  const result = useQuery(
    (signal) => {
      const selected = project.value;
      if (range.value === undefined) return undefined;
      const { step, ...times } = presetTimes(range.value);
      const ask = (more: Record<string, string>): Promise<MetricAnswer> =>
        requestJson("observability/metrics", {
          json: {
            metric: metric.name,
            ...times,
            ...more,
            ...(selected === undefined ? {} : { project_name: selected }),
            ...(service === undefined ? {} : { service_name: service }),
            ...(model === undefined ? {} : { model_key: model }),
          },
          signal,
        });
      return Promise.all([ask({}), ask({ step })]).then(([total, overTime]): CardAnswer => ({ total, overTime }));
    },
    [metric.name, service, model],
  );
  const { data, error, loading } = result;
  const title = titleOf(metric);
  return (
    <article ref={card} class="card metrics-card" aria-label={title} aria-busy={loading.value}>
      <header>
        <h3 class="clip">{title}</h3>
        <p class="small muted">{metric.description}</p>
      </header>
      {error.value !== undefined ? (
        <div class="metrics-card-note" role="alert">
          <p class="foreign small">{error.value.message}</p>
          <button type="button" class="button" onClick={result.reload}>
            Try again
          </button>
        </div>
      ) : data.value === undefined ? (
        <p class="metrics-card-note" />
      ) : (
        <CardResult metric={metric} answer={data.value} />
      )}
    </article>
  );
}

function titleOf({ name }: Metric): string {
  return name.replaceAll("_", " ");
}

function CardResult({ metric, answer }: { readonly metric: Metric; readonly answer: CardAnswer }) {
  const { found, lines, series, times, totals } = useMemo(() => seriesOf(answer), [answer]);
  if (series.length === 0) return <p class="metrics-card-note muted">No data in this time range</p>;
  const unit = unitOfPreset(metric.unit);
  const format = (value: number): string => formatValue(value, unit);
  return (
    <>
      {found === 1 ? (
        <p class="metrics-card-value">
          <strong>{format(totals[0]!)}</strong>
          {unit === "none" && <span class="small muted">{metric.unit}</span>}
        </p>
      ) : (
        <ul class="metrics-card-series small">
          {lines.map(({ color, label }, index) => (
            <li key={series[index]!.key}>
              <span class="legend-color" style={{ background: chartColor(color) }} />
              <span class="clip">{label}</span>
              <span class="spread">{format(totals[index]!)}</span>
            </li>
          ))}
          {found > series.length && <li class="muted">and {found - series.length} more</li>}
        </ul>
      )}
      <div class="metrics-card-chart">
        <Chart
          times={times}
          series={lines}
          format={format}
          height={chartHeight}
          compact
          syncKey="metrics-gallery"
          label={`${titleOf(metric)} over time`}
          onZoom={zoomTo}
        />
        <a
          class="small"
          href={href("metrics", { ...addressRange(), query: answer.overTime.query })}
          aria-label={`Explore ${titleOf(metric)}`}
        >
          Explore
        </a>
      </div>
    </>
  );
}

/** The series with the highest values over the time range, and these values. */
function seriesOf({ overTime, total }: CardAnswer) {
  const totalOf = new Map(
    toSeries([{ query: total.query, answer: total }]).map(({ labels, values }) => [fullName(labels), values[0]!]),
  );
  const all = toSeries([{ query: overTime.query, answer: overTime }])
    .map((series) => ({ series, value: totalOf.get(fullName(series.labels)) ?? Number.NaN }))
    .toSorted((left, right) => (right.value || 0) - (left.value || 0));
  const shown = all.slice(0, maximumSeries);
  const series = shown.map((each) => each.series);
  const times = commonTimes(series);
  const lines = chartSeries(series, times, new Set());
  return { found: all.length, series, times, lines, totals: shown.map(({ value }) => value) };
}

function addressRange(): Record<string, string | undefined> {
  const { from, to } = timeRange.value;
  return { from, to: to === "now" ? undefined : to, project: project.value };
}

const minutesOfSteps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080];
const pointsOfCard = 40;

/** Presets know whole minutes. */
function presetTimes({ startMs, endMs }: Moments): { time_window: string; step: string; end: string } {
  const minutes = Math.max(1, Math.ceil((endMs - startMs) / 60_000));
  const step = minutesOfSteps.find((each) => minutes / each <= pointsOfCard) ?? Math.ceil(minutes / pointsOfCard);
  return { time_window: `${minutes}m`, step: `${step}m`, end: new Date(endMs).toISOString() };
}
