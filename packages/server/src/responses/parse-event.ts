/** Parses the events of upstreams that speak the Responses API. */
import type { WireEvent } from "../engines/wire.ts";
import { isObject, parseObject, type JsonObject } from "../json-object.ts";

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
  const parsed = parseObject(event.data);
  const response = parsed?.["response"];
  const type = parsed?.["type"];
  if (parsed === undefined || typeof type !== "string" || !responseEvents.has(type) || !isObject(response))
    return undefined;
  return { event: parsed, type, response };
}
