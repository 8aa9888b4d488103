/** The logs of one trace, oldest first: shown next to its spans. */
import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { EmptyState, ErrorState, Loading, Notice } from "../../design/states.tsx";
import { VirtualList, type VirtualListHandle } from "../../design/virtual-list.tsx";
import { href } from "../../state/address.ts";
import { entriesOf, type LogEntry, type LogsAnswer } from "./log-entry.ts";
import { LogRow } from "./log-row.tsx";
import { rowHeight } from "./row-height.ts";

export interface TraceLogsProps {
  readonly traceId: string;
  /** The selected span: its entries are marked, and the first of them is scrolled into sight. */
  readonly spanId?: string | undefined;
  /** Called when an entry of a span is opened. */
  readonly onSelectSpan?: ((spanId: string) => void) | undefined;
}

/** More entries are shown by the view "Logs". */
const maximumEntries = 2_000;

/** The height is that of the element around it. */
export function TraceLogs({ traceId, spanId, onSelectSpan }: TraceLogsProps) {
  const { data, error, reload, cancel } = useQuery(
    async (signal) => {
      const json = {
        trace_id: traceId,
        start: "1970-01-01T00:00:00Z",
        direction: "forward",
        limit: maximumEntries,
        detail: true,
        ids: true,
      };
      const answer = await requestJson<LogsAnswer>("observability/logs", { json, signal });
      return { traceId, entries: entriesOf(answer).reverse() };
    },
    [traceId],
  );
  const found = data.value?.traceId === traceId ? data.value.entries : undefined;
  if (found === undefined) {
    return error.value === undefined ? (
      <Loading what="logs" onCancel={cancel} />
    ) : (
      <ErrorState error={error.value} onRetry={reload} />
    );
  }
  if (found.length === 0) {
    return (
      <EmptyState title="No logs" icon="logs">
        <p>No log entry names this trace. Send logs by OpenTelemetry with the trace's context to see them here.</p>
      </EmptyState>
    );
  }
  return (
    <div class="logs-trace">
      {found.length === maximumEntries && (
        <Notice>
          These are the first {maximumEntries} entries.{" "}
          <a href={href("logs", { trace_id: traceId, from: "now-30d" })}>Show all in Logs</a>
        </Notice>
      )}
      <TraceEntries entries={found} spanId={spanId} onSelectSpan={onSelectSpan} />
    </div>
  );
}

function TraceEntries({
  entries,
  spanId,
  onSelectSpan,
}: Pick<TraceLogsProps, "onSelectSpan" | "spanId"> & { readonly entries: readonly LogEntry[] }) {
  const expanded = useSignal<ReadonlySet<string>>(new Set());
  const list = useRef<VirtualListHandle>(undefined!);
  const keyOf = useCallback((index: number) => entries[index]!.id, [entries]);
  const isOfSpan = ({ labels }: LogEntry) => spanId !== undefined && labels["span_id"] === spanId;
  useEffect(() => {
    const first = entries.findIndex(isOfSpan);
    if (first >= 0) list.current.scrollToIndex(first, "auto");
  }, [spanId, entries]);
  return (
    <VirtualList
      label="Logs of the trace"
      count={entries.length}
      rowHeight={rowHeight()}
      measured
      keyOf={keyOf}
      handle={list}
      renderRow={(index) => {
        const entry = entries[index]!;
        const isExpanded = expanded.value.has(entry.id);
        return (
          <LogRow
            entry={entry}
            expanded={isExpanded}
            current={isOfSpan(entry)}
            traceLink={false}
            onToggle={() => {
              const next = new Set(expanded.value);
              if (!next.delete(entry.id)) next.add(entry.id);
              expanded.value = next;
              const span = entry.labels["span_id"];
              if (!isExpanded && span !== undefined && span !== spanId) onSelectSpan?.(span);
            }}
          />
        );
      }}
    />
  );
}
