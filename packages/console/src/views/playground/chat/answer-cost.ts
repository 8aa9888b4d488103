/** Asks for the cost of an answer: the server knows it once it has stored the trace of the call. */
import type { Signal } from "@preact/signals";
import { requestJson } from "../../../api/request.ts";
import { may } from "../../../state/session.ts";
import type { Answer } from "./conversation.ts";

/** Telemetry is stored in groups, so the trace is there a moment after the answer. */
const delaysMs = [500, 1_500, 4_000];

interface Traces {
  readonly traces: readonly { readonly summary: { readonly cost: number | null } }[];
}

export async function addCost(answer: Signal<Answer>, signal: AbortSignal): Promise<void> {
  const { traceId, completionTokens } = answer.peek();
  if (traceId === undefined || completionTokens === undefined || !may("telemetry_read")) return;
  const json = { trace: "all_traces", trace_id: traceId, detail: false };
  try {
    for (const delay of delaysMs) {
      await new Promise((resolve) => setTimeout(resolve, delay));
      if (signal.aborted) return;
      const { traces } = await requestJson<Traces>("observability/traces", { json, signal });
      const summary = traces[0]?.summary;
      if (summary === undefined) continue;
      if (summary.cost !== null) answer.value = { ...answer.peek(), cost: summary.cost };
      return;
    }
  } catch {
    // The server has no telemetry, or the view was left: the answer is then shown without its cost.
  }
}
