/** One trace while a query is evaluated on it. Spans are known by their index in the trace. */
import type { SpanEvent, SpanLink, TraceHead, TraceqlSpan, TraceqlTrace } from "../storage.ts";
import type { TraceStructure } from "./trace-structure.ts";

export class TraceView {
  readonly traceId: string;
  readonly spans: readonly TraceqlSpan[];
  readonly head: TraceHead | null;
  /** Null for queries that do not read it. */
  readonly structure: TraceStructure | null;
  /** The event and the link that a comparison reads at the moment. */
  event: SpanEvent | null = null;
  link: SpanLink | null = null;

  constructor(trace: TraceqlTrace, structure: TraceStructure | null) {
    this.traceId = trace.traceId;
    this.spans = trace.spans;
    this.head = trace.head;
    this.structure = structure;
  }
}
