/** Reacting to an `AbortSignal`: listeners that are always removed, waits that end early, the abort as an error. */
import { setTimeout as delay } from "node:timers/promises";
import type { AbortSource } from "./cancellation.ts";
import { AppError } from "./errors.ts";

/** Calls `callback` when the signal aborts, or immediately if it already has. Disposing removes the listener. */
export function onAbort(signal: AbortSignal, callback: () => void): Disposable {
  if (signal.aborted) callback();
  else signal.addEventListener("abort", callback, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener("abort", callback) };
}

/** The promise's result; rejects with the signal's reason as soon as the signal aborts. */
export async function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  using _listener = onAbort(signal, () => aborted.reject(signal.reason));
  // First, so that an abort wins over a promise that is settled as well.
  return await Promise.race([aborted.promise, promise]);
}

/** Waits; returns early, without an error, when the signal aborts. */
export async function sleep(durationMs: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(durationMs, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Why a call was cancelled: the signal's own reason if it is an `AppError`. */
export function abortReason(signal: Pick<AbortSource, "reason">): AppError {
  if (signal.reason instanceof AppError) return signal.reason;
  return new AppError("client_closed", "The call was cancelled.", { cause: signal.reason });
}
