/** The trace of an ID, asked for again while it may still grow. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import { requestJson } from "../../api/request.ts";
import { useQuery, type Query } from "../../api/use-query.ts";
import { useEvery } from "../../state/use-every.ts";
import type { TempoTrace } from "./tempo-json.ts";

/** How long after its end a trace may grow: exporters send in batches, and slow children arrive later. */
const growsForMs = 60_000;
const intervalMs = 3_000;

interface TraceQuery extends Query<TempoTrace | null> {
  /** Whether news are asked for. */
  readonly growing: ReadonlySignal<boolean>;
}

/** @param traceId undefined: there is nothing to ask. The data is null if there is no such trace */
export function useTrace(traceId: string | undefined): TraceQuery {
  const query = useQuery(
    (signal) => (traceId === undefined ? undefined : requestTrace(traceId, true, signal)),
    [traceId],
  );
  const growing = useSignal(false);
  const openedMs = useSignal(Date.now());
  const asking = useSignal(false);
  const check = async (known: TempoTrace | null): Promise<void> => {
    asking.value = true;
    try {
      const latest = await requestTrace(traceId!, false);
      if (JSON.stringify(latest?.summary) !== JSON.stringify(known?.summary)) query.reload();
    } catch {
      // What is shown stays; the next check may succeed.
    } finally {
      asking.value = false;
    }
  };
  useEvery(intervalMs, () => {
    const known = query.data.peek();
    if (known === undefined || asking.peek()) return;
    const changedMs = known === null ? openedMs.peek() : endMs(known);
    growing.value = Math.abs(Date.now() - changedMs) < growsForMs;
    if (growing.value) void check(known);
  });
  return { ...query, growing };
}

/** Without its spans, the answer is small and fast for any trace. */
async function requestTrace(traceId: string, detail: boolean, signal?: AbortSignal): Promise<TempoTrace | null> {
  const json = { trace: "all_traces", trace_id: traceId, detail };
  const { traces } = await requestJson<{ traces: TempoTrace[] }>("observability/traces", { json, signal });
  return traces[0] ?? null;
}

function endMs({ startTimeUnixNano, summary }: TempoTrace): number {
  return Number((BigInt(startTimeUnixNano) + BigInt(summary.durationNanos)) / 1_000_000n);
}
