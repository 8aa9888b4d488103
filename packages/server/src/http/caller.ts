/** Who made a call and in which trace, for the call's telemetry. */
import type { Scope } from "../tenant.ts";
import type { RouteInput } from "./route.ts";

export interface Caller {
  readonly scope: Scope;
  readonly requestId: string;
  /** The caller's trace context, not validated: https://www.w3.org/TR/trace-context/ */
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
