/** Reads the server's own spans, as a caller sees them. */
import type { AsyncSounding, Span } from "@sounding/client";

/** Waits until the trace has this many spans: telemetry is written asynchronously. */
export async function spansOf(client: AsyncSounding, traceId: string, count: number): Promise<readonly Span[]> {
  for (;;) {
    const { spans } = await client.traces.query({ trace: "all_traces", trace_id: traceId });
    if (spans.length >= count) return spans;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The span of a call that was made with the headers of `newTrace`; those of its attempts may be there earlier. */
export async function callSpanOf(client: AsyncSounding, traceId: string): Promise<Span> {
  for (;;) {
    const spans = await spansOf(client, traceId, 1);
    const span = spans.find(({ parentSpanId }) => parentSpanId === Buffer.from(callerSpanId, "hex").toString("base64"));
    if (span !== undefined) return span;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function attributesOf(span: Span): Record<string, unknown> {
  return Object.fromEntries((span.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]] as const));
}

/** The prompt and the answer that a span recorded: instructions, input and output, each undefined if it has none. */
export function contentOf(span: Span): unknown[] {
  const attributes = attributesOf(span);
  return ["gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages"].map((name) =>
    typeof attributes[name] === "string" ? JSON.parse(attributes[name]) : undefined,
  );
}

let traceNumber = 0;
const callerSpanId = "00f067aa0ba902b7";

/** A trace of the caller's, and the headers that pass it to the server. */
export function newTrace(): { readonly traceId: string; readonly headers: { readonly traceparent: string } } {
  traceNumber += 1;
  const traceId = traceNumber.toString(16).padStart(32, "a");
  return { traceId, headers: { traceparent: `00-${traceId}-${callerSpanId}-01` } };
}
