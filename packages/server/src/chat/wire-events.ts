/** The events of a chat in another wire on their way to the client: observed for the record, named and priced. */
import { randomUUID } from "node:crypto";
import type { ChatCompletion, ChatCompletionChunk } from "../api/chat-answer.ts";
import type { ChatWire, WireEvent } from "../engines/wire.ts";
import { AppError } from "../errors.ts";
import type { CallRecord } from "./call-record.ts";
import { observeChunk } from "./chunks.ts";
import type { WireFormat, WireRequest } from "./wire.ts";

/** Prefixes by which clients recognize the IDs of a wire. */
const idPrefixes = { responses: "resp_", messages: "msg_" } as const satisfies Record<ChatWire, string>;

export function createId(wire: ChatWire): string {
  return idPrefixes[wire] + randomUUID().replaceAll("-", "");
}

/** With the ID that the client gets, so that telemetry knows the same. */
export function withId(wire: ChatWire, completion: ChatCompletion): ChatCompletion {
  return { ...completion, id: createId(wire) };
}

interface Observed {
  readonly record: CallRecord;
  /** Tells which target serves the call. */
  readonly tell: () => void;
  readonly answerId: string | undefined;
}

export async function* observed(
  open: () => AsyncIterable<ChatCompletionChunk> | Promise<AsyncIterable<ChatCompletionChunk>>,
  { wire, record, tell, answerId }: Observed & { readonly wire: ChatWire },
): AsyncGenerator<ChatCompletionChunk, void, undefined> {
  let id: string | undefined;
  for await (const chunk of await open()) {
    if (id === undefined) tell();
    chunk.id = id ??= answerId ?? createId(wire);
    observeChunk(chunk, record);
    yield chunk;
  }
}

export async function* named<Request extends WireRequest>(
  items: AsyncIterable<{ readonly item: WireEvent; readonly modelId: string }>,
  format: WireFormat<Request>,
  record: CallRecord,
): AsyncGenerator<WireEvent, void, undefined> {
  for await (const { item, modelId } of items) {
    record.onModel(modelId);
    yield pricedEvent(format.withModel(item, modelId), format, record);
  }
}

export async function* pricedEvents<Request extends WireRequest>(
  events: AsyncIterable<WireEvent>,
  format: WireFormat<Request>,
  record: CallRecord,
): AsyncGenerator<WireEvent, void, undefined> {
  for await (const event of events) yield pricedEvent(event, format, record);
}

/** Tells the cost with the usage of the whole answer. */
function pricedEvent<Request extends WireRequest>(
  event: WireEvent,
  format: WireFormat<Request>,
  record: CallRecord,
): WireEvent {
  return format.hasFinalUsage(event) ? format.withCost(event, record.toldCost) : event;
}

/** Passes an upstream's events on. @throws AppError for a stream that is cut off or tells a failure */
export async function* readEvents<Request extends WireRequest>(
  events: AsyncIterable<WireEvent>,
  { format, record, tell, answerId }: Observed & { readonly format: WireFormat<Request> },
): AsyncGenerator<WireEvent, void, undefined> {
  const read = format.createReader();
  let isFirst = true;
  for await (const event of events) {
    const error = format.errorIn(event);
    if (error !== undefined) {
      const usage = read(event)?.usage;
      if (usage != null) record.onFailedUsage(usage, isFirst);
      throw error;
    }
    if (isFirst) tell();
    isFirst = false;
    const chunk = read(event);
    if (chunk !== undefined) observeChunk(answerId === undefined ? chunk : { ...chunk, id: answerId }, record);
    yield event;
    if (format.isLast(event)) return;
  }
  throw new AppError("upstream_failed", "The engine ended its stream before the answer was complete.");
}
