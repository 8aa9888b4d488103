/** Whose call it was, and which trace it belongs to: what the telemetry of every call begins with. */
import type { Scope } from "../tenant.ts";
import type { RouteInput } from "./route.ts";

export interface Caller {
  readonly scope: Scope;
  readonly requestId: string;
  /** The caller's own trace, as its headers say (https://www.w3.org/TR/trace-context/); unchecked. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

export function callerOf({
  scope,
  requestId,
  headers,
}: Pick<RouteInput<unknown>, "scope" | "requestId" | "headers">): Caller {
  const { traceparent, tracestate } = headers;
  return {
    scope,
    requestId,
    traceparent: typeof traceparent === "string" ? traceparent : undefined,
    tracestate: typeof tracestate === "string" ? tracestate : undefined,
  };
}
