/** Waits until the journal's rows are in the store: a deletion cannot reach rows in the journal. */
import { abortable, abortReason } from "../../abort.ts";
import { notWritten } from "../row-writer.ts";

const removalWaitMs = 30_000;

/**
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
