/**
 * The events that carry the whole response, which may be megabytes and which several steps read or change: each is parsed at
 * most once, and written once, by the last step.
 */
import type { WireEvent } from "../engines/wire.ts";
import { isObject, parseObject, type JsonObject } from "../json-object.ts";

const types = new Set([
  "response.created",
  "response.in_progress",
  "response.queued",
  "response.completed",
  "response.incomplete",
  "response.failed",
]);

export class ResponseEvent implements WireEvent {
  readonly name: string | undefined;
  readonly type: string;
  /** Not to be changed. */
  readonly event: JsonObject;
  readonly response: JsonObject;
  #data: string | undefined;

  /** @param event has `type` and `response` */
  constructor(
    name: string | undefined,
    event: JsonObject & { readonly type: string; readonly response: JsonObject },
    data?: string,
  ) {
    this.name = name;
    this.type = event.type;
    this.event = event;
    this.response = event.response;
    this.#data = data;
  }

  get data(): string {
    return (this.#data ??= JSON.stringify(this.event));
  }

  /** The event with another response. */
  with(response: JsonObject): ResponseEvent {
    if (response === this.response) return this;
    return new ResponseEvent(this.name, { ...this.event, type: this.type, response });
  }
}

const parsedBefore = new WeakMap<WireEvent, ResponseEvent>();

/** The event with its response, if it is one of those that carry the whole object. */
export function parseResponseEvent(event: WireEvent): ResponseEvent | undefined {
  if (event instanceof ResponseEvent) return event;
  // Upstreams may leave out the names; deltas are not parsed for it.
  if (event.name === undefined ? !event.data.includes('"response":') : !types.has(event.name)) return undefined;
  const before = parsedBefore.get(event);
  if (before !== undefined) return before;
  const parsed = parseObject(event.data);
  const response = parsed?.["response"];
  const type = parsed?.["type"];
  if (parsed === undefined || typeof type !== "string" || !types.has(type) || !isObject(response)) return undefined;
  const found = new ResponseEvent(event.name, Object.assign(parsed, { type, response }), event.data);
  parsedBefore.set(event, found);
  return found;
}
