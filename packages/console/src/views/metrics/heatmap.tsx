/** A heat map over time, drawn by uPlot: a row for each bucket, darker where more observations are. */
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { canvasColor } from "../../design/chart/chart-color.ts";
import { formatCount, formatTime } from "../../design/format.ts";
import { preferences } from "../../state/preferences.ts";
import type { Moments } from "../../state/time-range.ts";
import type { Heatmap } from "./heatmap-data.ts";

export interface HeatmapProps {
  readonly heatmap: Heatmap;
  readonly moments: Moments;
  readonly stepMs: number;
  /** Writes a bound of a bucket. */
  readonly format: (value: number) => string;
  readonly height: number;
  readonly onZoom: (moments: Moments) => void;
  readonly onDraw: (plot: uPlot) => void;
}

export function HeatmapChart(props: HeatmapProps) {
  const { heatmap, height, moments } = props;
  const holder = useRef<HTMLDivElement>(null);
  const tooltip = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const { theme, timeZone } = preferences.value;
  useLayoutEffect(() => {
    const element = holder.current!;
    const plot = new uPlot(optionsOf(element, tooltip.current!, latest), dataOf(heatmap), element);
    plot.setScale("x", { min: moments.startMs / 1000, max: moments.endMs / 1000 });
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [heatmap, moments.startMs, moments.endMs, height, theme, timeZone]);
  const { buckets, greatest, times } = heatmap;
  return (
    <figure
      class="chart"
      role="img"
      aria-label={`Heat map of ${buckets.length} buckets at ${times.length} times; the greatest count is ${formatCount(greatest)}`}
    >
      <div ref={holder} class="chart-canvas" style={{ height: `${height}px` }}>
        <div ref={tooltip} class="chart-tooltip" hidden />
      </div>
    </figure>
  );
}

/** uPlot wants a series, although the cells are drawn by us. */
function dataOf({ times }: Heatmap): uPlot.AlignedData {
  return [times.map((ms) => ms / 1000), times.map(() => null)];
}

function optionsOf(
  element: HTMLElement,
  tooltip: HTMLElement,
  latest: { readonly current: HeatmapProps },
): uPlot.Options {
  const { heatmap, height } = latest.current;
  const { buckets } = heatmap;
  const color = (property: string): string => canvasColor(element, property);
  const axis = {
    stroke: color("--text-muted"),
    font: `11px ${getComputedStyle(element).fontFamily}`,
    ticks: { show: false },
  };
  const every = Math.max(1, Math.ceil(buckets.length / Math.max(1, Math.floor(height / 24))));
  return {
    width: Math.max(60, element.clientWidth),
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    tzDate: (time) =>
      preferences.value.timeZone === "utc" ? uPlot.tzDate(new Date(time * 1000), "Etc/UTC") : new Date(time * 1000),
    cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false } },
    scales: { y: { range: [0, Math.max(1, buckets.length)] } },
    axes: [
      {
        ...axis,
        size: 28,
        grid: { show: false },
        space: 70,
        values: (_, ticks) => ticks.map((tick) => timeOf(tick * 1000, latest.current)),
      },
      {
        ...axis,
        size: 64,
        grid: { show: false },
        splits: () => buckets.flatMap((_, index) => (index % every === 0 ? [index + 1] : [])),
        values: (_, ticks) => ticks.map((tick) => boundOf(buckets[tick - 1]!.upper, latest.current.format)),
      },
    ],
    series: [{}, { show: false }],
    hooks: {
      drawAxes: [(plot) => drawCells(plot, latest.current, color("--accent"))],
      draw: [(plot) => latest.current.onDraw(plot)],
      setCursor: [(plot) => showCell(plot, tooltip, latest.current)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < 4) return;
          const at = (pixel: number): number => plot.posToVal(pixel, "x") * 1000;
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          latest.current.onZoom({ startMs: at(left), endMs: at(left + width) });
        },
      ],
    },
  };
}

/** The time of day; with the date if the range is longer than a day. */
function timeOf(ms: number, { moments }: HeatmapProps): string {
  return formatTime(ms).slice(moments.endMs - moments.startMs > 86_400_000 ? 5 : 11, 16);
}

function boundOf(value: number, format: HeatmapProps["format"]): string {
  return value === Infinity ? "∞" : format(value);
}

function drawCells(plot: uPlot, { heatmap, stepMs }: HeatmapProps, color: string): void {
  const { counts, greatest, times } = heatmap;
  const { ctx } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
  ctx.clip();
  ctx.fillStyle = color;
  // Rounded edges: cells neither overlap nor leave gaps.
  const edge = (value: number, axis: "x" | "y"): number => Math.round(plot.valToPos(value, axis, true));
  counts.forEach((row, bucket) => {
    const top = edge(bucket + 1, "y");
    const height = edge(bucket, "y") - top;
    row.forEach((count, at) => {
      if (count <= 0) return;
      // The root lets few observations be seen next to many.
      ctx.globalAlpha = 0.12 + 0.88 * Math.sqrt(count / greatest);
      const left = edge((times[at]! - stepMs) / 1000, "x");
      ctx.fillRect(left, top, Math.max(1, edge(times[at]! / 1000, "x") - left), height);
    });
  });
  ctx.restore();
}

/** The bucket and the count under the cursor. A cell ends at its time. */
function showCell(plot: uPlot, tooltip: HTMLElement, { format, heatmap, stepMs }: HeatmapProps): void {
  const { left = -1, top = -1 } = plot.cursor;
  const ms = plot.posToVal(left, "x") * 1000;
  const at = heatmap.times.findIndex((time) => time >= ms && time - stepMs < ms);
  const row = Math.floor(plot.posToVal(top, "y"));
  const bucket = heatmap.buckets[row];
  if (left < 0 || at < 0 || bucket === undefined) {
    tooltip.hidden = true;
    return;
  }
  const time = document.createElement("div");
  time.className = "chart-tooltip-time";
  time.textContent = formatTime(heatmap.times[at]!);
  const value = document.createElement("div");
  const count = formatCount(heatmap.counts[row]![at]!);
  value.textContent = `${boundOf(bucket.lower, format)} – ${boundOf(bucket.upper, format)}: ${count}`;
  tooltip.replaceChildren(time, value);
  tooltip.hidden = false;
  const x = left + plot.over.offsetLeft;
  const overflows = x + 16 + tooltip.offsetWidth > plot.width;
  tooltip.style.left = `${Math.max(0, overflows ? x - tooltip.offsetWidth - 12 : x + 12)}px`;
}
