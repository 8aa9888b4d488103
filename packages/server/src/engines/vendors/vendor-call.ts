/** Tracks one running call: joins everything that can end it in one signal. */
import { abortReason, onAbort } from "../../abort.ts";
import { AppError } from "../../errors.ts";
import { FruitlessBytes, maximumWithEvent } from "../upstream-http/fruitless-bytes.ts";

export interface VendorCall {
  /** Its reason is the AppError that ended the call, or a plain AbortError after a normal end. */
  readonly signal: AbortSignal;
  /** Sent to the vendor, so that both logs have the same ID. */
  readonly requestId: string | undefined;
  /** What a stream sent since its last chunk. */
  readonly fruitless: FruitlessBytes;
  /** Ends the call's work now; the first reason stays. */
  cancel(reason: AppError): void;
  /** Releases the timer and the listeners, and aborts remaining work. */
  close(): void;
}

interface VendorCallOptions {
  readonly requestId?: string | undefined;
  /** The caller's; its abort means that the client disconnected, unless its reason is an AppError. */
  readonly signal: AbortSignal;
  /** The engine's; aborted with an AppError when the engine closes. */
  readonly engineSignal: AbortSignal;
  readonly totalTimeoutMs: number;
  readonly label: string;
}

export function beginVendorCall(options: VendorCallOptions): VendorCall {
  const { signal, engineSignal, totalTimeoutMs, label, requestId } = options;
  const controller = new AbortController();
  const cancel = (reason: AppError): void => controller.abort(reason);
  const timer = setTimeout(() => {
    cancel(new AppError("upstream_timeout", `${label} did not finish within ${totalTimeoutMs} ms.`));
  }, totalTimeoutMs);
  const listeners = [signal, engineSignal].map((each) => onAbort(each, () => cancel(abortReason(each))));
  return {
    signal: controller.signal,
    requestId,
    fruitless: new FruitlessBytes(maximumWithEvent),
    cancel,
    close() {
      clearTimeout(timer);
      for (const listener of listeners) listener[Symbol.dispose]();
      controller.abort();
    },
  };
}
