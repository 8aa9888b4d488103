/** Waits until rows can be deleted, which those in the journal cannot. */
import { abortable, abortReason } from "../../abort.ts";
import { notWritten } from "../row-writer.ts";

const removalWaitMs = 30_000;

/**
 * Rows in the journal cannot be deleted.
 * @param visible as `Journal.whenVisible` returns it
 * @throws AppError overloaded if the store does not take the rows in time
 */
export async function requireVisible(visible: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  if (visible === undefined) return;
  try {
    await abortable(visible, AbortSignal.any([signal, AbortSignal.timeout(removalWaitMs)]));
  } catch (cause) {
    if (signal.aborted) throw abortReason(signal);
    throw notWritten("The telemetry store does not accept rows, so none can be deleted. Retry later.", cause);
  }
}
