/** A trace context of our own: a call that is sent with it belongs to a trace whose ID we know. */

export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** The header `traceparent`. https://www.w3.org/TR/trace-context/#traceparent-header */
  readonly header: string;
}

export function createTraceParent(): TraceParent {
  const traceId = randomHex(16);
  return { traceId, header: `00-${traceId}-${randomHex(8)}-01` };
}

function randomHex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}
