/** The times above the bars; dragging over it zooms. */
import { formatDuration } from "../../design/format.ts";
import { BrushSelection, useTimeBrush } from "./time-brush.tsx";
import type { TimeSpan, TraceState } from "./trace-state.ts";

export function TimeAxis({ state }: { readonly state: TraceState }) {
  const range = state.zoom.value;
  const brush = useTimeBrush(range, state.zoomTo);
  const { times, step } = axisMarks(range);
  return (
    <div class="trace-axis" title="Drag to zoom; double-click to show the whole trace" {...brush.handlers}>
      {times.map((ns) => (
        <span key={ns} style={{ left: `${((ns - range.startNs) / (range.endNs - range.startNs)) * 100}%` }}>
          {formatMark(ns, step)}
        </span>
      ))}
      <BrushSelection brush={brush} range={range} />
    </div>
  );
}

/** The share of the axis at its end that has no room for a mark. */
const lastMark = 0.1;

/** Round times, about four. */
function axisMarks({ startNs, endNs }: TimeSpan): { readonly times: readonly number[]; readonly step: number } {
  const rough = (endNs - startNs) / 4;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((each) => each >= rough)!;
  const times: number[] = [];
  for (let ns = Math.ceil(startNs / step) * step; ns < endNs - (endNs - startNs) * lastMark; ns += step) times.push(ns);
  return { times, step };
}

const units = [
  { ns: 1e9, symbol: "s" },
  { ns: 1e6, symbol: "ms" },
  { ns: 1e3, symbol: "µs" },
  { ns: 1, symbol: "ns" },
] as const;

/** With so many digits that neighbours differ. */
function formatMark(ns: number, step: number): string {
  if (ns === 0 || step >= 60e9) return formatDuration(ns / 1e6);
  const unit = units.find((each) => ns >= each.ns) ?? units[3];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / unit.ns) - 1e-9));
  return `${(ns / unit.ns).toFixed(digits)} ${unit.symbol}`;
}
