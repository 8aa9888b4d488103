/**
 * Lines of JSON, from bytes in any pieces to objects. A line ends in LF or CR LF, the last one perhaps in nothing; empty
 * lines count for nothing. https://github.com/ndjson/ndjson-spec
 */
import { IncompleteStreamError, InvalidAnswerError } from "./errors.ts";
import type { Transform } from "./mode.ts";
import { excerpt, parsedOrUndefined } from "./response.ts";

/** The most characters that one line may have. */
const longestLine = 64 * 1024 * 1024;

/**
 * Yields an object a line. Throws InvalidAnswerError on a line that is none, or that is too long, and
 * IncompleteStreamError when the last line is cut.
 */
export function createNdjsonDecoder(): Transform<Uint8Array, object> {
  // Drops a byte order mark and keeps the beginning of a character that is cut.
  const decoder = new TextDecoder();
  let unfinished = "";

  function* push(bytes: Uint8Array): Generator<object, void, void> {
    const text = decoder.decode(bytes, { stream: true });
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      const line = unfinished + text.slice(start, end);
      unfinished = "";
      start = end + 1;
      if (line.trim() !== "") yield readLine(line);
    }
    unfinished += text.slice(start);
    if (unfinished.length > longestLine) {
      throw new InvalidAnswerError(`A line of the stream is longer than ${longestLine} characters.`);
    }
  }

  function end(): object[] {
    const line = unfinished + decoder.decode();
    if (line.trim() === "") return [];
    const value = parsedOrUndefined(line);
    // A cut object is no JSON, so one that is JSON is whole.
    if (typeof value === "object" && value !== null) return [value];
    throw new IncompleteStreamError("The stream ended within a line; the response is incomplete.");
  }

  return { push, end };
}

function readLine(line: string): object {
  const value = parsedOrUndefined(line);
  if (typeof value === "object" && value !== null) return value;
  throw new InvalidAnswerError(`A line of the stream is not a JSON object: ${excerpt(line)}`);
}
