/** Who made a call and in which trace, for the call's telemetry. */
import type { Scope } from "../tenant.ts";
import type { RouteInput } from "./route.ts";

export interface Caller {
  readonly scope: Scope;
  readonly requestId: string;
  /** The client's IP address. */
  readonly clientAddress: string | undefined;
  /** The caller's trace context, not validated: https://www.w3.org/TR/trace-context/ */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
}

/** The members of a request that say who made it. */
export type CallerFields = "scope" | "headers" | "requestId" | "clientAddress";

export function callerOf({
  scope,
  requestId,
  clientAddress,
  headers,
}: Pick<RouteInput<unknown>, CallerFields>): Caller {
  const { traceparent, tracestate } = headers;
  return {
    scope,
    requestId,
    clientAddress,
    traceparent: typeof traceparent === "string" ? traceparent : undefined,
    tracestate: typeof tracestate === "string" ? tracestate : undefined,
  };
}
