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

export interface ResponseEvent {
  readonly event: JsonObject;
  readonly type: string;
  readonly response: JsonObject;
}

/** Such an event has the whole request or answer, which may be megabytes, and several steps read it. */
const known = new WeakMap<WireEvent, ResponseEvent>();

/** The event with its response, if it is one of those that carry the whole object. Not to be changed. */
export function parseResponseEvent(event: WireEvent): ResponseEvent | undefined {
  // Upstreams may leave out the names; deltas are not parsed for it.
  if (event.name === undefined ? !event.data.includes('"response":') : !responseEvents.has(event.name))
    return undefined;
  const before = known.get(event);
  if (before !== undefined) return before;
  const parsed = parseObject(event.data);
  const response = parsed?.["response"];
  const type = parsed?.["type"];
  if (parsed === undefined || typeof type !== "string" || !responseEvents.has(type) || !isObject(response))
    return undefined;
  const found = { event: parsed, type, response };
  known.set(event, found);
  return found;
}

/** The event with another response. */
export function withResponse({ name }: WireEvent, { event, type }: ResponseEvent, response: JsonObject): WireEvent {
  const changed = { ...event, response };
  const written = { name, data: JSON.stringify(changed) };
  known.set(written, { event: changed, type, response });
  return written;
}
