/** The list of traces as a table that renders only the rows in sight, and loads more while one scrolls. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatCount } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { VirtualList, type VirtualListHandle } from "../../design/virtual-list.tsx";
import { href, navigate } from "../../state/address.ts";
import { moments } from "../../state/time-range.ts";
import type { ListMemory } from "../../telemetry/follow-question.ts";
import { useListKeys, useRowHeight, useUnmovedRows } from "../../telemetry/list-place.ts";
import type { PagedList } from "../../telemetry/paged-list.ts";
import type { ListedTrace } from "./trace-list.ts";
import { TraceRow } from "./trace-row.tsx";

const columns = [
  ["time", "Time"],
  ["name", "Name"],
  ["service", "Service"],
  ["project", "Project"],
  ["status", "Status"],
  ["duration", "Duration"],
  ["spans", "Spans"],
  ["models", "Models"],
  ["tokens", "Tokens in / out"],
  ["cost", "Cost"],
] as const;

const dayMs = 86_400_000;
/** From this many rows before the end, the next page is loaded. */
const reach = 30;

const idOf = ({ traceID }: ListedTrace): string => traceID;

export function TraceTable({ list, memory }: { readonly list: PagedList<ListedTrace>; readonly memory: ListMemory }) {
  const handle = useRef<VirtualListHandle>(undefined!);
  const rowHeight = useRowHeight();
  const place = { items: list.items, idOf, handle, rowHeight };
  const { selected } = memory;
  useListKeys({
    ...place,
    selected,
    open: ({ traceID }) => navigate(href(`traces/${traceID}`)),
    noun: "trace",
  });
  const { unseen, onScroll, toTop } = useUnmovedRows(place);
  useLayoutEffect(() => handle.current?.element?.scrollTo({ top: memory.scrollTop }), []);
  const traces = list.items.value ?? [];
  const { startMs, endMs } = moments.value;
  const longestMs = traces.reduce((most, { summary }) => Math.max(most, Number(summary.durationNanos) / 1e6), 1);
  return (
    <div
      class={`traces-table ${list.loading.value ? "loading" : ""}`}
      role="table"
      aria-label="Traces"
      aria-rowcount={list.hasMore.value ? -1 : traces.length + 1}
      aria-busy={list.loading.value}
    >
      <div class="traces-row traces-head" role="row" aria-rowindex={1}>
        {columns.map(([name, title]) => (
          <div key={name} class={`traces-${name}`} role="columnheader">
            {title}
          </div>
        ))}
      </div>
      {unseen.value > 0 && (
        <button type="button" class="button primary traces-unseen" onClick={toTop}>
          <Icon name="up" size={12} />
          {formatCount(unseen.value)} new
        </button>
      )}
      <VirtualList
        count={traces.length}
        rowHeight={rowHeight}
        role="rowgroup"
        label="Traces, newest first"
        handle={handle}
        keyOf={(index) => traces[index]?.traceID ?? index}
        onReach={(index) => {
          if (index >= traces.length - reach) list.more();
        }}
        onScroll={(element) => {
          memory.scrollTop = element.scrollTop;
          onScroll(element);
        }}
        renderRow={(index) => (
          <TraceRow
            trace={traces[index]!}
            index={index}
            selected={traces[index]!.traceID === selected.value}
            longestMs={longestMs}
            withDate={endMs - startMs > dayMs}
          />
        )}
      />
    </div>
  );
}
