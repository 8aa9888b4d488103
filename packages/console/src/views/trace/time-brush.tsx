/** Selecting a part of a time axis by dragging over it; a double click shows everything. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import type { TimeSpan } from "./trace-state.ts";

/** Shorter drags are clicks. */
const shortestDragPx = 4;

interface Brush {
  /** What is being selected. */
  readonly selection: ReadonlySignal<TimeSpan | undefined>;
  readonly handlers: {
    onPointerDown(event: PointerEvent): void;
    onPointerMove(event: PointerEvent): void;
    onPointerUp(): void;
    onPointerCancel(): void;
    onDblClick(): void;
  };
}

/** @param range what the element's width stands for */
export function useTimeBrush(range: TimeSpan, zoomTo: (span: TimeSpan | undefined) => void): Brush {
  const selection = useSignal<TimeSpan | undefined>(undefined);
  const origin = useSignal<{ readonly x: number; readonly ns: number } | undefined>(undefined);
  const timeAt = (event: PointerEvent): number => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - left) / width));
    return range.startNs + share * (range.endNs - range.startNs);
  };
  const stop = (): void => {
    origin.value = undefined;
    selection.value = undefined;
  };
  return {
    selection,
    handlers: {
      onPointerDown: (event) => {
        if (event.button !== 0) return;
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        origin.value = { x: event.clientX, ns: timeAt(event) };
      },
      onPointerMove: (event) => {
        const from = origin.peek();
        if (from === undefined) return;
        if (selection.peek() === undefined && Math.abs(event.clientX - from.x) < shortestDragPx) return;
        const to = timeAt(event);
        selection.value = { startNs: Math.min(from.ns, to), endNs: Math.max(from.ns, to) };
      },
      onPointerUp: () => {
        const selected = selection.peek();
        stop();
        if (selected !== undefined) zoomTo(selected);
      },
      onPointerCancel: stop,
      onDblClick: () => zoomTo(undefined),
    },
  };
}

/** The selection, drawn over the axis. */
export function BrushSelection({ brush, range }: { readonly brush: Brush; readonly range: TimeSpan }) {
  const selected = brush.selection.value;
  if (selected === undefined) return null;
  const share = (ns: number): number => ((ns - range.startNs) / (range.endNs - range.startNs)) * 100;
  return (
    <div
      class="trace-selection"
      style={{ left: `${share(selected.startNs)}%`, width: `${share(selected.endNs) - share(selected.startNs)}%` }}
    />
  );
}
