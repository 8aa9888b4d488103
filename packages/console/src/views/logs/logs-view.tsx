/** The view "Logs": a histogram by level, and every line that matches the filters of the address. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { ViewHeader } from "../../shell/view-header.tsx";
import { parameter, setParameters } from "../../state/address.ts";
import { endsNow, live, moments, timeRange } from "../../state/time-range.ts";
import { FilterBar } from "./filter-bar.tsx";
import { LogContext } from "./log-context.tsx";
import { LogFeed } from "./log-feed.ts";
import { filterText, queryText, type LogsFilter } from "./log-filters.ts";
import { LogHistogram } from "./log-histogram.tsx";
import { LogList } from "./log-list.tsx";
import { countEntries } from "./log-reader.ts";

interface SeenProject {
  readonly name: string;
  readonly signals: readonly string[];
}

export function LogsView() {
  const feed = useMemo(() => new LogFeed(), []);
  const attempt = useSignal(0);
  const line = useMemo(() => parameter("line"), []);
  const counts = useQuery((signal) => {
    const { startMs, endMs } = moments.value;
    const filter = JSON.parse(filterText.value) as LogsFilter;
    return countEntries({ filter, startMs, endMs: endsNow.value ? undefined : endMs, signal });
  });
  const projects = useQuery((signal) =>
    requestJson<{ readonly data: readonly SeenProject[] }>("observability/projects", { signal }),
  );
  const query = queryText.value;
  const isLive = live.value;
  // A live view follows the time by itself, and begins again only if its range or its filter changes.
  const { startMs, endMs } = isLive ? moments.peek() : moments.value;
  const rangeKey = isLive ? `live ${timeRange.value.from}` : `${startMs} ${endMs}`;
  useEffect(() => {
    const end = endsNow.value ? undefined : endMs;
    void feed.load({ filter: JSON.parse(query) as LogsFilter, startMs, endMs: end, live: isLive });
  }, [query, rangeKey, attempt.value]);
  useEffect(() => () => feed.stop(), []);
  const names = projects.data.value?.data.filter(({ signals }) => signals.includes("logs")).map(({ name }) => name);
  return (
    <div class="view fixed logs">
      <ViewHeader title="Logs" time />
      <FilterBar feed={feed} projects={names ?? []} counts={counts.data.value} />
      <LogHistogram counts={counts} />
      <LogList feed={feed} hasLogs={names === undefined || names.length > 0} onRetry={() => (attempt.value += 1)} />
      {line.value !== undefined && (
        <LogContext id={line.value} onClose={() => setParameters({ line: undefined, at: undefined })} />
      )}
    </div>
  );
}
