/** The list of lines: scrolled, followed, read with the keyboard, copied and downloaded. */
import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { copyText } from "../../design/copy-button.tsx";
import { formatCount } from "../../design/format.ts";
import { Icon } from "../../design/icons.tsx";
import { EmptyState, ErrorState, Loading, Notice } from "../../design/states.tsx";
import { VirtualList, type VirtualListHandle } from "../../design/virtual-list.tsx";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { parameters, setParameters } from "../../state/address.ts";
import { live, moments, setTimeRange } from "../../state/time-range.ts";
import { downloadLines } from "./download-lines.ts";
import type { LogEntry } from "./log-entry.ts";
import { maximumLines, type LogFeed } from "./log-feed.ts";
import { clearFilters, filterBy, isFiltered } from "./log-filters.ts";
import { LogRow } from "./log-row.tsx";
import { rowHeight } from "./row-height.ts";

interface LogListProps {
  readonly feed: LogFeed;
  /** Whether the organization has logs at all. */
  readonly hasLogs: boolean;
  readonly onRetry: () => void;
}

/** Lines below the last one in sight when the next page is requested. */
const readAhead = 200;

export function LogList({ feed, hasLogs, onRetry }: LogListProps) {
  const entries = feed.entries.value;
  if (entries.length === 0) {
    if (feed.loading.value) return <Loading what="logs" onCancel={() => feed.stop()} />;
    if (feed.error.value !== undefined) return <ErrorState error={feed.error.value} onRetry={onRetry} />;
    return hasLogs ? <NoMatch /> : <NoLogs />;
  }
  return (
    <section class={`logs-list ${feed.loading.value ? "stale" : ""}`} aria-label="Lines" aria-busy={feed.loading.value}>
      <ListHeader feed={feed} />
      <Lines feed={feed} entries={entries} />
      <ListFooter feed={feed} />
    </section>
  );
}

function Lines({ feed, entries }: { readonly feed: LogFeed; readonly entries: readonly LogEntry[] }) {
  const list = useRef<VirtualListHandle>(undefined!);
  const expanded = useSignal<ReadonlySet<string>>(new Set());
  const current = useSignal<string | undefined>(undefined);
  const scrolled = useSignal(false);
  // Rows of one height scroll faster. Once a line was expanded, heights are measured.
  const unequal = useSignal(false);
  const wrap = parameters.value.get("wrap") === "1";
  const search = parameters.value.get("search") ?? undefined;
  const { startMs, endMs } = moments.value;
  const dated = endMs - startMs > 86_400_000;
  const paused = scrolled.value || expanded.value.size > 0;
  useEffect(() => void (feed.paused = paused), [feed, paused]);
  useEffect(() => () => void (feed.paused = false), [feed]);
  const toggle = ({ id }: LogEntry): void => {
    const next = new Set(expanded.value);
    if (!next.delete(id)) next.add(id);
    if (!unequal.value) keepFocus(list.current.element);
    unequal.value = true;
    expanded.value = next;
    current.value = id;
  };
  const keyOf = useCallback((index: number) => entries[index]?.id ?? index, [entries]);
  const move = (step: number): void => {
    const at = entries.findIndex(({ id }) => id === current.value);
    const next = Math.max(0, Math.min(entries.length - 1, at + step));
    current.value = entries[next]!.id;
    list.current.scrollToIndex(next);
  };
  const currentEntry = (): LogEntry | undefined => entries.find(({ id }) => id === current.value);
  useShortcuts(
    () => [
      { keys: "j", description: "Next line", group: "This view", run: () => move(1) },
      { keys: "k", description: "Previous line", group: "This view", run: () => move(-1) },
      {
        keys: "Enter",
        description: "Open or close the line",
        group: "This view",
        run: () => {
          const entry = currentEntry();
          const focused = document.activeElement;
          if (entry === undefined || (focused instanceof HTMLElement && focused.matches("button, a"))) return false;
          return toggle(entry);
        },
      },
      {
        keys: "Escape",
        description: "Close all lines",
        group: "This view",
        run: () => {
          if (expanded.value.size === 0) return false;
          expanded.value = new Set();
          return;
        },
      },
      {
        keys: "c",
        description: "Copy the line",
        group: "This view",
        run: () => {
          const entry = currentEntry();
          if (entry === undefined) return false;
          return void copyText(entry.line);
        },
      },
      {
        keys: "w",
        description: "Wrap long lines",
        group: "This view",
        run: () => setParameters({ wrap: wrap ? undefined : "1" }, { replace: true }),
      },
    ],
    [entries, wrap],
  );
  return (
    <div class="logs-lines">
      <VirtualList
        key={String(wrap)}
        label="Log lines"
        count={entries.length}
        rowHeight={rowHeight()}
        measured={wrap || unequal.value}
        keyOf={keyOf}
        handle={list}
        onScroll={(element) => void (scrolled.value = element.scrollTop > 4)}
        onReach={(index) => {
          if (index > entries.length - readAhead) void feed.loadMore();
        }}
        renderRow={(index) => {
          const entry = entries[index];
          if (entry === undefined) return null;
          return (
            <LogRow
              entry={entry}
              expanded={expanded.value.has(entry.id)}
              current={current.value === entry.id}
              wrap={wrap}
              search={search}
              dated={dated}
              onToggle={() => toggle(entry)}
              onFilter={filterBy}
              onContext={() => setParameters({ line: entry.id, at: entry.unixNano })}
            />
          );
        }}
      />
      {live.value && feed.waiting.value > 0 && (
        <button
          type="button"
          class="button primary logs-new"
          onClick={() => {
            expanded.value = new Set();
            list.current.scrollToIndex(0, "start");
            scrolled.value = false;
          }}
        >
          <Icon name="up" />
          {formatCount(feed.waiting.value)} new {feed.waiting.value === 1 ? "line" : "lines"}
        </button>
      )}
    </div>
  );
}

function ListHeader({ feed }: { readonly feed: LogFeed }) {
  const count = feed.entries.value.length;
  const wrap = parameters.value.get("wrap") === "1";
  const following = live.value && feed.tailError.value === undefined;
  return (
    <header class="logs-list-header">
      <span class="muted small">
        {formatCount(count)} {count === 1 ? "line" : "lines"}
        {feed.hasMore.value && " so far"}
        {following && (feed.waiting.value > 0 ? ", paused" : ", following")}
      </span>
      <span class="spread" />
      <button
        type="button"
        class="button quiet"
        aria-pressed={wrap}
        onClick={() => setParameters({ wrap: wrap ? undefined : "1" }, { replace: true })}
      >
        Wrap
      </button>
      <button type="button" class="button quiet" onClick={() => downloadLines(feed.entries.peek())}>
        <Icon name="download" />
        Download
      </button>
    </header>
  );
}

function ListFooter({ feed }: { readonly feed: LogFeed }) {
  return (
    <footer class="logs-list-footer">
      {feed.tailError.value !== undefined && live.value && (
        <Notice kind="warning">
          New lines could not be read, and will be tried again:{" "}
          <span class="foreign">{feed.tailError.value.message}</span>
        </Notice>
      )}
      {feed.skipped.value && (
        <Notice kind="warning">
          Lines arrive faster than they can be shown, so some are missing here. Add a filter, or pause and search.
        </Notice>
      )}
      {feed.dropped.value > 0 && (
        <Notice>
          The oldest {formatCount(feed.dropped.value)} lines were removed from this list to save memory. They are
          stored: search for them with a time range.
        </Notice>
      )}
      {feed.full.value && feed.dropped.value === 0 && (
        <Notice>
          {live.value ? "A live list" : `A list of ${formatCount(maximumLines)} lines or 150 MB`} shows no older lines.
          To see them, shorten the time range or add filters.
        </Notice>
      )}
      {feed.error.value !== undefined && (
        <Notice kind="error">
          Older lines could not be read: <span class="foreign">{feed.error.value.message}</span>{" "}
          <button type="button" class="button" onClick={() => void feed.loadMore()}>
            Try again
          </button>
        </Notice>
      )}
    </footer>
  );
}

function NoMatch() {
  return (
    <EmptyState title={live.value ? "Waiting for the first line" : "No lines match"}>
      <p>
        {isFiltered.value
          ? "No log line of this time range matches all filters."
          : "Nothing was logged in this time range."}
      </p>
      <div class="row">
        {isFiltered.value && (
          <button type="button" class="button" onClick={clearFilters}>
            Clear filters
          </button>
        )}
        <button type="button" class="button" onClick={() => setTimeRange({ from: "now-24h", to: "now" })}>
          Last 24 hours
        </button>
        <button type="button" class="button" onClick={() => setTimeRange({ from: "now-30d", to: "now" })}>
          Last 30 days
        </button>
      </div>
    </EmptyState>
  );
}

function NoLogs() {
  return (
    <EmptyState title="No logs yet" icon="logs">
      <p>
        Send logs by OpenTelemetry: set <code>OTEL_EXPORTER_OTLP_ENDPOINT</code> to this server's address and{" "}
        <code>OTEL_EXPORTER_OTLP_HEADERS</code> to <code>authorization=Bearer …</code> with an API key. For an example,
        run <code>sounding demo</code>.
      </p>
    </EmptyState>
  );
}

/** Gives the focus back to the control of a row that is about to be rendered again. */
function keepFocus(list: HTMLElement | null): void {
  const row = document.activeElement?.closest<HTMLElement>(".virtual-list-row");
  if (list === null || row == null || !list.contains(row)) return;
  const { index } = row.dataset;
  requestAnimationFrame(() => list.querySelector<HTMLElement>(`[data-index="${index}"] button`)?.focus());
}
