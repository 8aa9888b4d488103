/** The spans of a trace as a tree with bars on a time axis: virtual, folding, zooming, with a keyboard. */
import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { VirtualList, type VirtualListHandle } from "../../design/virtual-list.tsx";
import { preferences } from "../../state/preferences.ts";
import { Minimap } from "./minimap.tsx";
import { TimeAxis } from "./time-axis.tsx";
import type { TraceState } from "./trace-state.ts";
import { rowId, WaterfallRow } from "./waterfall-row.tsx";
import { moveSelection } from "./waterfall-keys.ts";

const rowHeights = { comfortable: 30, compact: 24 } as const;

export function Waterfall({ state }: { readonly state: TraceState }) {
  const list = useRef<VirtualListHandle>(undefined!);
  const frame = useRef<HTMLDivElement>(null);
  const rows = state.rows.value;
  const { spans } = state.model.value;
  useEffect(() => zoomWithWheel(frame.current!, state), [state]);
  // Follows the selection, also when the address changes, but not when rows are folded or arrive.
  const shown = useRef<string | undefined>(undefined);
  useSignalEffect(() => {
    const span = state.selected.value;
    const element = list.current.element;
    if (span === undefined) element?.removeAttribute("aria-activedescendant");
    else element?.setAttribute("aria-activedescendant", rowId(span));
    if (span !== undefined && span.key !== shown.current) {
      const row = state.rows.peek().indexOf(span.index);
      if (row !== -1) requestAnimationFrame(() => list.current.scrollToIndex(row, "auto"));
    }
    shown.current = span?.key;
  });
  return (
    <div class="trace-waterfall" ref={frame}>
      <Minimap state={state} />
      <div class="trace-columns">
        <span>Span</span>
        <span class="trace-service">Service</span>
        <span class="trace-duration">Duration</span>
        <TimeAxis state={state} />
      </div>
      <div
        class="trace-rows"
        onKeyDown={(event) => {
          const moved = moveSelection(event.key, state);
          if (moved) event.preventDefault();
        }}
      >
        <VirtualList
          count={rows.length}
          rowHeight={rowHeights[preferences.value.density]}
          keyOf={(row) => spans[rows[row]!]!.key}
          label="Spans"
          role="tree"
          handle={list}
          renderRow={(row) => <WaterfallRow span={spans[rows[row]!]!} state={state} />}
        />
      </div>
    </div>
  );
}

/** Ctrl or Command and scrolling zooms around the pointer; Shift and scrolling moves along the axis. */
function zoomWithWheel(frame: HTMLElement, state: TraceState): () => void {
  const turn = (event: WheelEvent): void => {
    const sideways = event.deltaX === 0 && event.shiftKey ? event.deltaY : event.deltaX;
    const zooms = event.ctrlKey || event.metaKey;
    if (!zooms && (sideways === 0 || !state.zoomed.peek())) return;
    event.preventDefault();
    const { left, width } = frame.querySelector(".trace-axis")!.getBoundingClientRect();
    const { startNs, endNs } = state.zoom.peek();
    const length = endNs - startNs;
    if (zooms) {
      const share = Math.max(0, Math.min(1, (event.clientX - left) / width));
      state.zoomBy(1.002 ** event.deltaY, startNs + share * length);
    } else {
      const moved = (sideways / width) * length;
      state.zoomTo({ startNs: startNs + moved, endNs: endNs + moved });
    }
  };
  frame.addEventListener("wheel", turn, { passive: false });
  return () => frame.removeEventListener("wheel", turn);
}
