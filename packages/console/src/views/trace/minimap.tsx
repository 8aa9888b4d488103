/** The whole trace in a small picture, with the part that the time axis shows. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { canvasColor, seriesColor } from "../../design/chart/chart-color.ts";
import { preferences } from "../../state/preferences.ts";
import { BrushSelection, useTimeBrush } from "./time-brush.tsx";
import type { TraceModel } from "./trace-model.ts";
import type { TraceState } from "./trace-state.ts";

const heightPx = 48;
const tallestBarPx = 4;

export function Minimap({ state }: { readonly state: TraceState }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const model = state.model.value;
  const { theme } = preferences.value;
  useLayoutEffect(() => {
    const element = canvas.current!;
    const redraw = (): void => draw(element, model);
    redraw();
    const observer = new ResizeObserver(redraw);
    observer.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", redraw);
    return () => {
      observer.disconnect();
      scheme.removeEventListener("change", redraw);
    };
  }, [model, theme]);
  const range = { startNs: 0, endNs: Math.max(1, model.durationNs) };
  const brush = useTimeBrush(range, state.zoomTo);
  const { startNs, endNs } = state.zoom.value;
  return (
    <div class="trace-minimap" title="Drag to zoom; double-click to show the whole trace" {...brush.handlers}>
      <canvas ref={canvas} aria-hidden="true" />
      {state.zoomed.value && (
        <>
          <div class="trace-outside" style={{ left: 0, width: `${(startNs / range.endNs) * 100}%` }} />
          <div class="trace-outside" style={{ right: 0, width: `${(1 - endNs / range.endNs) * 100}%` }} />
        </>
      )}
      <BrushSelection brush={brush} range={range} />
    </div>
  );
}

/** Each span at its place in the tree: as a canvas, since thousands of elements would be slow. */
function draw(canvas: HTMLCanvasElement, { spans, durationNs, services }: TraceModel): void {
  const width = canvas.clientWidth;
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(heightPx * scale);
  const context = canvas.getContext("2d");
  if (context === null || width === 0) return;
  const colors = services.slice(0, 8).map((_, index) => canvasColor(canvas, seriesColor(index)));
  const failure = canvasColor(canvas, "--error");
  context.scale(scale, scale);
  const row = heightPx / spans.length;
  const height = Math.max(1, Math.min(tallestBarPx, row - 1));
  const duration = Math.max(1, durationNs);
  for (const { index, startNs, endNs, serviceIndex, failed } of spans) {
    context.fillStyle = failed ? failure : colors[serviceIndex % 8]!;
    context.fillRect(
      (startNs / duration) * width,
      index * row,
      Math.max(1, ((endNs - startNs) / duration) * width),
      height,
    );
  }
}
