/** The view of one trace. */
import { useComputed } from "@preact/signals";
import { requestJson } from "../../api/request.ts";
import { useQuery } from "../../api/use-query.ts";
import { EmptyState, ErrorState, Loading } from "../../design/states.tsx";
import { href } from "../../state/address.ts";
import { ViewHeader } from "../../shell/view-header.tsx";
import type { TempoTrace } from "./tempo-json.ts";
import { readTrace } from "./trace-model.ts";

/** @param traceId as in the address: may be anything */
export function TraceView({ traceId }: { readonly traceId: string }) {
  const isId = /^[\da-f]{32}$/i.test(traceId);
  const query = useQuery((signal) => (isId ? requestTrace(traceId, signal) : undefined), [traceId]);
  const model = useComputed(() => (query.data.value ? readTrace(query.data.value) : undefined));
  return (
    <div class="view fixed">
      <ViewHeader title={<span class="foreign">{model.value?.name || "Trace"}</span>} />
      {!isId ? (
        <EmptyState title="This is not a trace ID" icon="traces">
          <p>A trace ID has 32 hexadecimal digits.</p>
          <a class="button" href={href("traces")}>
            Go to the list of traces
          </a>
        </EmptyState>
      ) : query.error.value !== undefined ? (
        <ErrorState error={query.error.value} onRetry={query.reload} />
      ) : query.data.value === undefined ? (
        <Loading what="the trace" onCancel={query.cancel} />
      ) : model.value === undefined ? (
        <EmptyState title="This trace was not found" icon="traces" />
      ) : (
        <ul>
          {model.value.spans.map(({ key, name }) => (
            <li key={key} class="clip">
              {name}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Null if there is no such trace. */
async function requestTrace(traceId: string, signal: AbortSignal): Promise<TempoTrace | null> {
  const json = { trace: "all_traces", trace_id: traceId.toLowerCase() };
  const { traces } = await requestJson<{ traces: TempoTrace[] }>("observability/traces", { json, signal });
  return traces[0] ?? null;
}
