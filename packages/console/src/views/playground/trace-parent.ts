/** The trace of a call that the page is about to make: it names the trace, so that it can link to it. */

export interface TraceParent {
  readonly traceId: string;
  /** The value of the header. https://www.w3.org/TR/trace-context/#traceparent-header */
  readonly traceparent: string;
}

export function newTraceParent(): TraceParent {
  const traceId = randomHex(16);
  return { traceId, traceparent: `00-${traceId}-${randomHex(8)}-01` };
}

function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
