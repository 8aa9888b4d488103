/**
 * Decodes a stream of JSON objects in server-sent events that ends with `[DONE]`, as used by chat completions and
 * transcriptions.
 */
import { IncompleteStreamError, InvalidAnswerError, StreamError } from "./errors.ts";
import type { StreamDecoder } from "./mode.ts";
import { errorDetails, excerpt, memberOf, parsedOrUndefined, type AnswerHead } from "./response.ts";
import { createSseDecoder, type ServerSentEvent } from "./sse.ts";

/**
 * Decodes such a stream. `push` throws StreamError if the server reports an error in the stream and InvalidAnswerError
 * for invalid JSON; `end` throws IncompleteStreamError if `[DONE]` has not arrived.
 * @throws InvalidAnswerError if the response is not a stream
 */
export function createJsonEventDecoder<T>(head: AnswerHead): StreamDecoder<T> {
  const type = head.headers.get("content-type");
  if (type !== null && !/^text\/event-stream\b/i.test(type)) {
    throw new InvalidAnswerError(`The response is ${type}; expected a stream of events.`);
  }
  const decoder = createSseDecoder();
  let finished = false;

  function* push(bytes: Uint8Array): Generator<T, void, void> {
    for (const event of decoder.push(bytes)) {
      if (event.data.trim() === "[DONE]") {
        finished = true;
        return;
      }
      yield readEvent(event, head) as T;
    }
  }

  function end(): T[] {
    if (!finished)
      throw new IncompleteStreamError("The stream ended before its end marker; the response is incomplete.");
    return [];
  }

  return {
    push,
    end,
    get finished() {
      return finished;
    },
  };
}

/** Reads one event; its type is not checked. */
function readEvent(event: ServerSentEvent, head: AnswerHead): object {
  const value = parsedOrUndefined(event.data);
  if (event.event === "error" || memberOf(value, "error") != null) {
    throw new StreamError(errorDetails(value, head, `The server reported an error: ${excerpt(event.data)}`));
  }
  if (typeof value !== "object" || value === null) {
    throw new InvalidAnswerError(`An event of the stream is not a JSON object: ${excerpt(event.data)}`);
  }
  return value;
}
