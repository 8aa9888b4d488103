/** uPlot's options: axes in the theme's colours, a tooltip, and a selection that zooms. */
import type { RefObject } from "preact";
import uPlot from "uplot";
import { formatTime } from "../format.ts";
import { preferences } from "../../state/preferences.ts";
import { canvasColor } from "./chart-color.ts";
import type { ChartProps } from "./chart-props.ts";

/** @param latest the chart's properties, read when something happens */
export function chartOptions(element: HTMLElement, latest: RefObject<ChartProps>): uPlot.Options {
  const { series, kind = "line", height = 180, syncKey, compact = false, onZoom } = latest.current;
  const color = (property: string) => canvasColor(element, property);
  const font = `11px ${getComputedStyle(element).fontFamily}`;
  const axis = { stroke: color("--text-muted"), font, ticks: { show: false } };
  const line = color("--border");
  const bars = kind === "bars" || kind === "stacked-bars";
  const tooltip = createTooltip(element);
  return {
    width: Math.max(60, element.clientWidth),
    height,
    padding: [8, 8, 0, compact ? 8 : 0],
    legend: { show: false },
    tzDate: (seconds) =>
      preferences.value.timeZone === "utc"
        ? uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC")
        : new Date(seconds * 1000),
    cursor: {
      y: false,
      drag: { x: onZoom !== undefined, y: false, setScale: false },
      points: { show: !bars },
      ...(syncKey === undefined ? {} : { sync: { key: syncKey } }),
    },
    scales: { y: { range: (_, min, max) => valueRange(min, max) } },
    axes: [
      { ...axis, show: !compact, grid: { show: false }, values: timeValues, space: 70, size: 26 },
      {
        ...axis,
        show: !compact,
        size: 58,
        grid: { stroke: line, width: 1 },
        values: (_, ticks) => ticks.map((tick) => latest.current.format(tick)),
      },
    ],
    series: [
      {},
      ...series.map(({ label, color: property }) => ({
        label,
        stroke: color(property),
        width: bars ? 0 : 1.5,
        points: { show: false, size: 5, filter: bars ? () => null : isolatedPoints },
        spanGaps: false,
        ...(bars ? { fill: color(property), paths: uPlot.paths.bars!({ size: [0.9, 40, 1], align: 1 }) } : {}),
        ...(kind === "stacked-area" ? { fill: color(property) } : {}),
      })),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < 4) return;
          const at = (pixel: number) => plot.posToVal(pixel, "x") * 1000;
          latest.current.onZoom?.({ startMs: at(left), endMs: at(left + width) });
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      setCursor: [(plot) => tooltip.show(plot, latest.current)],
      draw: [(plot) => latest.current.onDraw?.(plot)],
      ready: [
        (plot) =>
          plot.over.addEventListener("click", () => {
            if (plot.cursor.idx != null) latest.current.onPick?.(plot.cursor.idx, null);
          }),
      ],
      destroy: [() => tooltip.remove()],
    },
  };
}

/** Values without neighbors, which no line shows. */
function isolatedPoints(plot: uPlot, seriesIndex: number): number[] | null {
  const values = plot.data[seriesIndex]!;
  const found = Array.from(values.keys()).filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
  return found.length === 0 ? null : found;
}

/** From zero, or from the least value if it is negative. */
function valueRange(min: number, max: number): [number, number] {
  const low = Number.isFinite(min) && min < 0 ? min * 1.08 : 0;
  return [low, Number.isFinite(max) && max > 0 ? max * 1.08 : low < 0 ? 0 : 1];
}

/** The time of day, and the date where it changes. */
function timeValues(_: uPlot, ticks: number[], __: number, ___: number, incrementSeconds: number): string[] {
  let lastDate = "";
  return ticks.map((seconds) => {
    const text = formatTime(seconds * 1000);
    const date = text.slice(5, 10);
    const changed = date !== lastDate;
    lastDate = date;
    if (incrementSeconds >= 86_400) return date;
    const time = text.slice(11, incrementSeconds >= 60 ? 16 : 19);
    return changed && ticks.length > 1 && seconds !== ticks[0] ? `${date} ${time}` : time;
  });
}

/** A box next to the cursor with the values at its time. */
function createTooltip(element: HTMLElement) {
  const box = document.createElement("div");
  box.className = "chart-tooltip";
  box.hidden = true;
  element.append(box);
  return {
    show(plot: uPlot, { series, times, format }: ChartProps): void {
      const { idx, left = -1 } = plot.cursor;
      const ms = idx == null ? undefined : times[idx];
      if (idx == null || ms === undefined || left < 0) {
        box.hidden = true;
        return;
      }
      const rows = series
        .map(({ label, color, values, hidden }) => ({ label, color, hidden, value: values[idx] ?? null }))
        .filter(({ value, hidden }) => value !== null && hidden !== true)
        .toSorted((a, b) => b.value! - a.value!);
      const title = document.createElement("div");
      title.className = "chart-tooltip-time";
      title.textContent = formatTime(ms);
      box.replaceChildren(
        title,
        ...rows.slice(0, maxRows).map((row) => tooltipRow(row.color, row.label, format(row.value!))),
      );
      if (rows.length > maxRows) box.append(`and ${rows.length - maxRows} more`);
      box.hidden = false;
      const x = left + plot.over.offsetLeft;
      const overflow = x + 16 + box.offsetWidth > element.clientWidth;
      box.style.left = `${Math.max(0, overflow ? x - box.offsetWidth - 12 : x + 12)}px`;
    },
    remove: () => box.remove(),
  };
}

const maxRows = 8;

function tooltipRow(color: string, label: string, value: string): HTMLElement {
  const row = document.createElement("div");
  row.className = "chart-tooltip-row";
  const swatch = document.createElement("span");
  swatch.className = "legend-color";
  swatch.style.background = `var(${color})`;
  const name = document.createElement("span");
  name.className = "clip";
  name.textContent = label;
  const amount = document.createElement("span");
  amount.className = "chart-tooltip-value";
  amount.textContent = value;
  row.append(swatch, name, amount);
  return row;
}
