/** A chart over time: lines or stacked bars, drawn by uPlot, with a selection that zooms. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { preferences } from "../../state/preferences.ts";
import { chartColor } from "./chart-color.ts";
import { chartOptions } from "./chart-options.ts";
import type { ChartProps, ChartSeries } from "./chart-props.ts";
import { stack } from "./stack.ts";

export function Chart(props: ChartProps) {
  const { times, series, kind = "line", height = 180, label, moments } = props;
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { theme, timeZone } = preferences.value;
  // uPlot cannot change the series of a chart, but it can change their data.
  const shape = JSON.stringify([
    kind,
    height,
    series.map((each) => [each.label, each.color, each.hidden]),
    theme,
    timeZone,
  ]);
  const data = (): uPlot.AlignedData => {
    const shown = series.map(({ values, hidden }) => (hidden === true ? values.map(() => null) : values));
    const values = kind.startsWith("stacked") ? stack(shown) : shown;
    return [times.map((ms) => ms / 1000), ...values] as unknown as uPlot.AlignedData;
  };
  useLayoutEffect(() => {
    const element = holder.current!;
    const created = new uPlot(chartOptions(element, latest), data(), element);
    plot.current = created;
    const observer = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      created.destroy();
    };
  }, [shape]);
  useEffect(() => {
    const current = plot.current!;
    current.setData(data(), false);
    const first = moments === undefined ? times[0] : moments.startMs;
    const last = moments === undefined ? times.at(-1) : moments.endMs;
    current.setScale("x", { min: (first ?? 0) / 1000, max: (last ?? 1) / 1000 });
  }, [times, series, moments?.startMs, moments?.endMs, shape]);
  return (
    <figure class={`chart ${props.compact === true ? "compact" : ""}`} role="img" aria-label={label}>
      <div ref={holder} class="chart-canvas" style={{ height: `${height}px` }} />
    </figure>
  );
}

/** The names and colours of a chart's series, as buttons if they can be hidden. */
export function Legend({
  series,
  onToggle,
}: {
  readonly series: readonly ChartSeries[];
  readonly onToggle?: (index: number) => void;
}) {
  return (
    <ul class="legend">
      {series.map(({ label, color, hidden }, index) => (
        <li key={label}>
          {onToggle === undefined ? (
            <span class="legend-entry">
              <span class="legend-color" style={{ background: chartColor(color) }} />
              <span class="clip">{label}</span>
            </span>
          ) : (
            <button type="button" class="legend-entry" aria-pressed={hidden !== true} onClick={() => onToggle(index)}>
              <span class="legend-color" style={{ background: chartColor(color) }} />
              <span class="clip">{label}</span>
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
