/** The list of traces: charts, filters and a table, which stay as they were when one comes back from a trace. */
import { useEffect } from "preact/hooks";
import { EmptyState } from "../../design/states.tsx";
import { ViewHeader } from "../../shell/view-header.tsx";
import { moments } from "../../state/time-range.ts";
import { createListMemory, followQuestion } from "../../telemetry/follow-question.ts";
import { ListContent } from "../../telemetry/list-content.tsx";
import { createPagedList } from "../../telemetry/paged-list.ts";
import { SendTelemetry } from "../../telemetry/send-telemetry.tsx";
import { WiderRange } from "../../telemetry/wider-range.tsx";
import { TraceCharts } from "./trace-charts.tsx";
import { TraceFilterBar } from "./trace-filter-bar.tsx";
import { clearFilters, isFiltered, traceFilters } from "./trace-filters.ts";
import { traceQuestion, type ListedTrace } from "./trace-list.ts";
import { TraceTable } from "./trace-table.tsx";

const list = createPagedList<ListedTrace>();
const memory = createListMemory();

function ask() {
  const filters = traceFilters.value;
  return { filters, options: traceQuestion(filters, () => moments.peek()) };
}

export function TraceListView() {
  useEffect(() => followQuestion(list, memory, ask), []);
  return (
    <div class="view fixed traces">
      <ViewHeader title="Traces" time />
      <TraceFilterBar />
      <TraceCharts />
      <ListContent
        list={list}
        nouns={["trace", "traces"]}
        icon="traces"
        empty={<NoTraces />}
        reload={() => list.load(ask().options)}
      >
        <TraceTable list={list} memory={memory} />
      </ListContent>
    </div>
  );
}

function NoTraces() {
  if (!isFiltered.value) {
    return (
      <SendTelemetry
        title="No traces in this time range"
        icon="traces"
        hint="Choose a longer time range, or send something new."
      />
    );
  }
  return (
    <EmptyState title="No traces match" icon="traces">
      <p>At least one span of a trace must match all filters.</p>
      <div class="row">
        <button type="button" class="button" onClick={clearFilters}>
          Clear the filters
        </button>
        <WiderRange />
      </div>
    </EmptyState>
  );
}
