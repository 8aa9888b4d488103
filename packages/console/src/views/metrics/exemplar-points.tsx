/** Exemplars on top of a chart: a point for each, which is a link to its trace. */
import type uPlot from "uplot";
import { formatTime } from "../../design/format.ts";
import { href } from "../../state/address.ts";
import type { ExemplarSeriesJson, Labels } from "./prometheus.ts";
import { toNumber } from "./result-series.ts";

export interface ExemplarPoint {
  readonly traceId: string;
  readonly spanId: string | undefined;
  readonly timeMs: number;
  readonly value: number;
  readonly isFailed: boolean;
  readonly labels: Labels;
}

/** More points than these hide the chart. */
const maximumPoints = 400;

/** One for each trace, failed ones and those with high values first. */
export function toPoints(series: readonly ExemplarSeriesJson[]): ExemplarPoint[] {
  const points = new Map<string, ExemplarPoint>();
  for (const { exemplars, seriesLabels } of series) {
    const isFailed = (seriesLabels["status"] ?? "success") !== "success";
    for (const { labels, timestamp, value } of exemplars) {
      const traceId = labels["trace_id"] ?? labels["traceID"] ?? "";
      if (!/^[0-9a-f]{32}$/i.test(traceId)) continue;
      const point = { traceId, spanId: labels["span_id"], timeMs: timestamp * 1000, value: toNumber(value) };
      points.set(`${traceId} ${timestamp}`, { ...point, isFailed, labels: seriesLabels });
    }
  }
  return [...points.values()]
    .toSorted((left, right) => Number(right.isFailed) - Number(left.isFailed) || right.value - left.value)
    .slice(0, maximumPoints);
}

/** Where the plot is inside its figure, and what its axes show. */
export interface PlotGeometry {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly minMs: number;
  readonly maxMs: number;
  readonly minY: number;
  readonly maxY: number;
}

export function geometryOf(plot: uPlot): PlotGeometry {
  const { over, scales } = plot;
  return {
    left: over.offsetLeft,
    top: over.offsetTop,
    width: over.clientWidth,
    height: over.clientHeight,
    minMs: (scales["x"]?.min ?? 0) * 1000,
    maxMs: (scales["x"]?.max ?? 1) * 1000,
    minY: scales["y"]?.min ?? 0,
    maxY: scales["y"]?.max ?? 1,
  };
}

interface PlacedPoint extends ExemplarPoint {
  readonly x: number;
  readonly y: number;
}

/** Pixels between two points, so that each can be hit and the chart stays visible. */
const distance = 36;

/** Leaves out points that are too close to a more important one. */
function place(
  points: readonly ExemplarPoint[],
  { height, maxMs, maxY, minMs, minY, width }: PlotGeometry,
  heightOf: ((value: number) => number) | undefined,
): PlacedPoint[] {
  const placed: PlacedPoint[] = [];
  for (const point of points) {
    if (point.timeMs < minMs || point.timeMs > maxMs) continue;
    const share = heightOf === undefined ? 0 : (heightOf(point.value) - minY) / (maxY - minY);
    const x = ((point.timeMs - minMs) / (maxMs - minMs)) * width;
    const y = height * (1 - Math.min(1, Math.max(0, share)));
    const isFree = placed.every((other) => Math.hypot(other.x - x, other.y - y) >= distance);
    if (isFree) placed.push({ ...point, x, y });
  }
  // In the order of the keyboard's focus.
  return placed.sort((left, right) => left.timeMs - right.timeMs);
}

/** @param heightOf the position on the value axis; undefined: the points are on the time axis */
export function ExemplarPoints({
  points,
  geometry,
  heightOf,
  format,
}: {
  readonly points: readonly ExemplarPoint[];
  readonly geometry: PlotGeometry;
  readonly heightOf: ((value: number) => number) | undefined;
  readonly format: (value: number) => string;
}) {
  const { height, left, top, width } = geometry;
  return (
    <div
      class="metrics-exemplars"
      style={{ left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` }}
    >
      {place(points, geometry, heightOf).map(({ isFailed, labels, spanId, timeMs, traceId, value, x, y }) => {
        const of = labels["model_key"] ?? labels["agent_name"] ?? labels["service_name"];
        const parts = [
          `Trace of ${formatTime(timeMs)}`,
          format(value),
          isFailed ? "failed" : "",
          (of ?? "").slice(0, 100),
        ];
        const name = parts.filter((part) => part !== "").join(", ");
        return (
          <a
            key={`${traceId} ${timeMs}`}
            class={`metrics-exemplar ${isFailed ? "failed" : ""}`}
            href={href(`traces/${traceId}`, { span: spanId })}
            aria-label={name}
            title={name}
            style={{ left: `${x}px`, top: `${y}px` }}
          />
        );
      })}
    </div>
  );
}
