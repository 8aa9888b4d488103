/** Reports how a stream ended, once: completely, with an error, or because its client disconnected. */
import { AppError, toAppError } from "../errors.ts";

const disconnected = new AppError("client_closed", "The client disconnected before the response was complete.");

/** Passes the items on. @param onEnd called without an error if the stream ended completely */
export async function* reportEnd<T>(
  items: AsyncIterable<T>,
  onEnd: (error?: AppError) => void,
): AsyncGenerator<T, void, undefined> {
  // A consumer that leaves its loop returns from `yield*`: neither of the assignments below is reached.
  let failure: AppError | undefined = disconnected;
  try {
    yield* items;
    failure = undefined;
  } catch (error) {
    failure = toAppError(error);
    throw error;
  } finally {
    onEnd(failure);
  }
}
