/** One call while it runs: everything that may end it, joined in one signal. */
import { AppError } from "../../errors.ts";

export interface LiveCall {
  /** Its reason is an AppError where one ended the call, and a plain AbortError once the call is over. */
  readonly signal: AbortSignal;
  /** Told to the vendor, so that both logs name the call alike. */
  readonly requestId: string | undefined;
  /** Ends the call's work now; the first reason stays. */
  cancel(reason: AppError): void;
  /** Frees the timer and the listeners, and ends whatever still runs. */
  close(): void;
}

interface LiveCallOptions {
  readonly requestId?: string | undefined;
  /** The caller's; its abort means that the client is gone, unless its reason is an AppError. */
  readonly signal: AbortSignal;
  /** The engine's; aborted with an AppError when the engine closes. */
  readonly engineSignal: AbortSignal;
  readonly totalTimeoutMs: number;
  readonly label: string;
}

export function beginLiveCall(options: LiveCallOptions): LiveCall {
  const { signal, engineSignal, totalTimeoutMs, label, requestId } = options;
  const controller = new AbortController();
  const cancel = (reason: AppError): void => controller.abort(reason);
  const onCallerAbort = (): void => {
    const reason: unknown = signal.reason;
    cancel(reason instanceof AppError ? reason : new AppError("client_closed", "The client disconnected."));
  };
  const onEngineAbort = (): void => cancel(engineSignal.reason as AppError);
  const timer = setTimeout(() => {
    cancel(new AppError("upstream_timeout", `${label} did not finish within ${totalTimeoutMs} ms.`));
  }, totalTimeoutMs);
  signal.addEventListener("abort", onCallerAbort, { once: true });
  engineSignal.addEventListener("abort", onEngineAbort, { once: true });
  if (signal.aborted) onCallerAbort();
  if (engineSignal.aborted) onEngineAbort();
  return {
    signal: controller.signal,
    requestId,
    cancel,
    close() {
      clearTimeout(timer);
      signal.removeEventListener("abort", onCallerAbort);
      engineSignal.removeEventListener("abort", onEngineAbort);
      controller.abort();
    },
  };
}
