/** Defines how a vendor is reached, and how its calls begin and fail. */
import type { Dispatcher } from "undici";
import type { ChatRequest } from "../../api/chat-request.ts";
import { AppError } from "../../errors.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";
import { beginVendorCall, type VendorCall } from "./vendor-call.ts";
import type { ProviderFactory, Vendor } from "./vendor.ts";
import { toVendorError } from "./vendor-error.ts";

/** How a vendor's calls are made. */
export interface VendorConnection {
  readonly vendor: Vendor;
  readonly dispatcher: Dispatcher;
  /** Aborted, with an AppError, when the engine closes. */
  readonly closing: AbortSignal;
  readonly limits: TimeLimits;
  readonly maxChoices: number;
  loadFactory(): Promise<ProviderFactory>;
  /** Throws for what the adapter would drop. */
  preflight(request: ChatRequest, model: string): Promise<void>;
}

interface StartedCall {
  readonly signal: AbortSignal;
  readonly requestId?: string | undefined;
}

export function beginCall(
  { signal, requestId }: StartedCall,
  { closing, limits, vendor }: VendorConnection,
): VendorCall {
  return beginVendorCall({
    signal,
    requestId,
    engineSignal: closing,
    totalTimeoutMs: limits.totalTimeoutMs,
    label: vendor.label,
  });
}

/** The error of a call that an adapter or the transport ended. */
export function toCallError(thrown: unknown, live: VendorCall, { vendor }: VendorConnection): AppError {
  const reason: unknown = live.signal.reason;
  return reason instanceof AppError ? reason : toVendorError(thrown, vendor);
}

/** What an adapter gets for each request: the call's ID and its end. */
export function liveOptions({ requestId, signal }: VendorCall) {
  const headers = requestId === undefined ? {} : { headers: { "x-request-id": requestId } };
  return { ...headers, abortSignal: signal };
}
