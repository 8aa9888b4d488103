/**
 * Decodes JSON lines from bytes in arbitrary pieces. A line ends in LF or CR LF, which the last one may lack; empty
 * lines are skipped. https://github.com/ndjson/ndjson-spec
 */
import { IncompleteStreamError, InvalidAnswerError } from "./errors.ts";
import type { Transform } from "./mode.ts";
import { excerpt, parsedOrUndefined } from "./response.ts";

/** Maximum length of one line in characters. */
const longestLine = 64 * 1024 * 1024;

/**
 * Yields one object per line. Throws InvalidAnswerError if a line is not an object or too long, and
 * IncompleteStreamError if the last line is truncated.
 */
export function createNdjsonDecoder(): Transform<Uint8Array, object> {
  // Drops a byte order mark and keeps the start of an incomplete character.
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
    // A truncated object is not valid JSON, so a valid one is complete.
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
