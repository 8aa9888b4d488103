/** A client's call as an upstream of the same wire gets it. */
import type { WireCall } from "../engines/wire.ts";
import type { RouteInput } from "../http/route.ts";
import type { WireFormat } from "./wire.ts";

type Received = Pick<RouteInput<unknown>, "bytes" | "headers" | "scope" | "signal" | "cancellation" | "requestId">;

/** @param sent the request with its changes */
export function toWireCall(
  { forwardedHeaders }: Pick<WireFormat<never>, "forwardedHeaders">,
  { bytes, headers: received, scope, signal, cancellation, requestId }: Received,
  sent: Pick<WireCall, "request" | "changes">,
): WireCall {
  const headers: Record<string, string> = {};
  for (const name of forwardedHeaders) {
    const value = received[name];
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(",") : value;
  }
  return { ...sent, bytes, headers, signal, cancellation, requestId, fairnessKey: scope.organizationId };
}
