/** Parses the data of a server-sent event: an object, an error, or what can be passed over, such as a ping. */
import { AppError } from "../../errors.ts";
import { isObject, type JsonObject } from "../../json-object.ts";
import type { SseEvent } from "../../streams/sse-decoder.ts";
import { harmlessJsonLength, JsonValueCount } from "../upstream-http/json-value-count.ts";
import { embeddedError } from "../upstream-http/upstream-error.ts";
import { maxEventValues } from "./response-limits.ts";

/**
 * Undefined for no data, for JSON that is no object, and for other text in an event of another type than the default.
 * @throws AppError upstream_failed if it is not JSON or too large
 */
export function parseEvent({ data, type }: SseEvent): JsonObject | undefined {
  if (data.trim() === "") return undefined;
  if (data.length > harmlessJsonLength) new JsonValueCount(maxEventValues).push(Buffer.from(data));
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (type !== "message") return undefined;
    throw new AppError("upstream_failed", "The engine sent an invalid response: an event is not JSON.", {
      cause: error,
    });
  }
}

/** The error of an event with the type `error`, whose data is an error in any form, or text. */
export function errorEvent(data: string): AppError {
  let value: unknown = data;
  try {
    value = JSON.parse(data);
  } catch {
    // Text.
  }
  const error = isObject(value) ? (value["error"] ?? value) : value;
  return embeddedError({ error }) ?? new AppError("upstream_failed", "The engine sent an error without a message.");
}
