/** Parses the events of upstreams that speak the Responses API. */
import type { WireEvent } from "../engines/wire.ts";
import { isObject, type JsonObject } from "../json-object.ts";

/** Undefined for what is no event of the API, such as a ping. */
export function parseEvent({ data }: WireEvent): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const responseEvents = new Set([
  "response.created",
  "response.in_progress",
  "response.queued",
  "response.completed",
  "response.incomplete",
  "response.failed",
]);

/** The event with its response, if it is one of those that carry the whole object. */
export function parseResponseEvent(
  event: WireEvent,
): { readonly event: JsonObject; readonly type: string; readonly response: JsonObject } | undefined {
  // Upstreams may leave out the names; deltas are not parsed for it.
  if (event.name === undefined ? !event.data.includes('"response":') : !responseEvents.has(event.name))
    return undefined;
  const parsed = parseEvent(event);
  const response = parsed?.["response"];
  const type = parsed?.["type"];
  if (parsed === undefined || typeof type !== "string" || !responseEvents.has(type) || !isObject(response))
    return undefined;
  return { event: parsed, type, response };
}
