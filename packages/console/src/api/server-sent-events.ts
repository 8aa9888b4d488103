/**
 * Reads the server-sent events of a response: their data, in order.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { ApiError } from "./request.ts";
import { createEventDecoder } from "./event-decoder.ts";

/**
 * The JSON values of the events, until `[DONE]` or the end of the response.
 * @returns whether the server said `[DONE]`: a stream of chat completions or of speech that ends without it is incomplete
 * @throws ApiError if an event is an error, or if the connection breaks
 */
export async function* readEvents<Value>(response: Response): AsyncGenerator<Value, boolean> {
  const { push } = createEventDecoder();
  const requestId = response.headers.get("x-request-id") ?? undefined;
  const reader = response.body!.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return false;
      for (const data of push(value)) {
        if (data === "[DONE]") return true;
        yield parseEvent(data, requestId) as Value;
      }
    }
  } finally {
    // Stops the call on the server if the reader leaves early.
    void reader.cancel().catch(() => {});
  }
}

function parseEvent(data: string, requestId: string | undefined): unknown {
  let value: { readonly error?: { readonly message?: string; readonly code?: string | null } } | null;
  try {
    value = JSON.parse(data) as typeof value;
  } catch {
    throw new ApiError("The server sent an event that is not JSON. The answer is incomplete.", { requestId });
  }
  const error = value?.error;
  if (typeof error === "object" && typeof error.message === "string")
    throw new ApiError(error.message, { status: 200, code: error.code ?? undefined, requestId });
  return value;
}
