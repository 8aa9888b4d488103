/** The view of one trace: its spans, logs and raw JSON, and what went wrong if it cannot be shown. */
import { computed, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { ApiError } from "../../api/request.ts";
import { EmptyState, ErrorState, Loading, Notice } from "../../design/states.tsx";
import { Tabs } from "../../design/tabs.tsx";
import { formatCount } from "../../design/format.ts";
import { href, parameter, parameters } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { ViewHeader } from "../../shell/view-header.tsx";
import { TraceLogs } from "../logs/trace-logs.tsx";
import { RawJson } from "./raw-json.tsx";
import { SpanDetails } from "./span-details.tsx";
import type { TempoTrace } from "./tempo-json.ts";
import { Toolbar } from "./toolbar.tsx";
import { TraceHeader } from "./trace-header.tsx";
import { readTrace } from "./trace-model.ts";
import { createTraceState, type TraceState } from "./trace-state.ts";
import { useTrace } from "./use-trace.ts";
import { useWaterfallKeys } from "./waterfall-keys.ts";
import { Waterfall } from "./waterfall.tsx";

/** @param traceId as in the address: may be anything */
export function TraceView({ traceId }: { readonly traceId: string }) {
  const id = /^[\da-f]{32}$/i.test(traceId) ? traceId.toLowerCase() : undefined;
  const query = useTrace(id);
  const { value: trace } = query.data;
  const error = query.error.value;
  if (trace !== undefined && trace !== null) {
    return <ShownTrace trace={query.data as ReadonlySignal<TempoTrace>} growing={query.growing.value} />;
  }
  return (
    <div class="view">
      <ViewHeader title="Trace" />
      {id === undefined ? (
        <EmptyState title="This is not a trace ID" icon="traces">
          <p>A trace ID has 32 hexadecimal digits.</p>
          <TracesLink />
        </EmptyState>
      ) : trace === null ? (
        <NotFound id={id} waiting={query.growing.value} />
      ) : error === undefined ? (
        <Loading what="the trace" onCancel={query.cancel} />
      ) : error instanceof ApiError && error.param === "limit" ? (
        <TooLarge id={id} />
      ) : (
        <ErrorState error={error} onRetry={query.reload} />
      )}
    </div>
  );
}

function TracesLink() {
  return (
    <a class="button" href={href("traces")}>
      Go to the list of traces
    </a>
  );
}

function NotFound({ id, waiting }: { readonly id: string; readonly waiting: boolean }) {
  const { organization = "", project = null } = session.value ?? {};
  return (
    <EmptyState title="This trace was not found" icon="traces">
      <p>
        No span of <code>{id}</code> is stored for the organization <strong class="foreign">{organization}</strong>
        {project !== null && (
          <>
            {" "}
            and the project <strong class="foreign">{project}</strong>
          </>
        )}
        . It may be of another organization or project, or older than the retention.
      </p>
      <p role="status">
        {waiting
          ? "If it is still running, its spans may be on their way: they appear here as soon as they arrive."
          : "If it has just ended, its spans may be on their way: exporters send in batches."}
      </p>
      <TracesLink />
    </EmptyState>
  );
}

function TooLarge({ id }: { readonly id: string }) {
  return (
    <EmptyState title="This trace has too many spans" icon="traces">
      <p>
        It has more than 100,000 spans, which is the most that one response returns. Its logs and its summary in the
        list of traces are available.
      </p>
      <a class="button" href={href("logs", { trace_id: id })}>
        Show its logs
      </a>
    </EmptyState>
  );
}

/** From this many spans on, the view says that it is a large trace. */
const manySpans = 20_000;

const tab = parameter("tab");

function ShownTrace({ trace, growing }: { readonly trace: ReadonlySignal<TempoTrace>; readonly growing: boolean }) {
  const state = useMemo(() => createTraceState(computed(() => readTrace(trace.value))), [trace]);
  useWaterfallKeys(state);
  const model = state.model.value;
  const selected = state.selected.value;
  const current = tab.value === "logs" || tab.value === "json" ? tab.value : "spans";
  return (
    <div class="view fixed trace">
      <TraceHeader state={state} growing={growing} />
      <Tabs
        label="Parts of the trace"
        current={current}
        tabs={[
          { id: "spans", title: "Spans", address: tabAddress(model.id, undefined) },
          { id: "logs", title: "Logs", address: tabAddress(model.id, "logs") },
          { id: "json", title: "Raw JSON", address: tabAddress(model.id, "json") },
        ]}
      />
      <div class={`trace-body ${state.detailsOpen.value ? "with-details" : ""}`}>
        <div class="trace-main">
          {current === "spans" && <Spans state={state} />}
          {current === "logs" && <Logs state={state} />}
          {current === "json" && <RawJson trace={trace.value} />}
        </div>
        {state.detailsOpen.value && selected !== undefined && (
          <SpanDetails key={selected.key} span={selected} state={state} />
        )}
      </div>
    </div>
  );
}

function tabAddress(id: string, tab: string | undefined): string {
  const kept = Object.fromEntries([...parameters.value].filter(([name]) => name !== "tab"));
  return href(`traces/${id}`, { ...kept, tab });
}

function Spans({ state }: { readonly state: TraceState }) {
  const { length } = state.model.value.spans;
  const hidden = length - state.rows.value.length;
  return (
    <>
      <Toolbar state={state} />
      {length >= manySpans && (
        <Notice>
          This trace has {length.toLocaleString("en")} spans. All of them are shown
          {hidden > 0 && `, except ${formatCount(hidden)} that are folded`}; search or zoom to find the ones that
          matter.
        </Notice>
      )}
      <Waterfall state={state} />
    </>
  );
}

function Logs({ state }: { readonly state: TraceState }) {
  const { byKey, id } = state.model.value;
  return (
    <TraceLogs
      traceId={id}
      spanId={state.selected.value?.id}
      onSelectSpan={(spanId) => {
        const span = byKey.get(spanId);
        if (span !== undefined) state.select(span);
      }}
    />
  );
}
