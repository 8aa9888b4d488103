/** The events of a chat in another wire on their way to the client: observed for the record, named and priced. */
import { randomUUID } from "node:crypto";
import type { ChatCompletion, ChatCompletionChunk } from "../api/chat-answer.ts";
import type { ChatWire, WireEvent } from "../engines/wire.ts";
import { AppError } from "../errors.ts";
import type { CallRecord } from "./call-record.ts";
import { observeChunk } from "./chunks.ts";
import { translateChunks } from "./translate-chunks.ts";
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

interface Observed<Request extends WireRequest> {
  readonly format: WireFormat<Request>;
  readonly record: CallRecord;
  /** Tells which target serves the call. */
  readonly tell: () => void;
  readonly answerId: string | undefined;
}

/** The events of an answer that is translated. @param modelId as clients know it; absent: the chunks have it */
export function translatedEvents<Request extends WireRequest>(
  open: () => AsyncIterable<ChatCompletionChunk> | Promise<AsyncIterable<ChatCompletionChunk>>,
  request: Request,
  { format, record, tell, answerId, modelId }: Observed<Request> & { readonly modelId?: string },
): AsyncIterable<WireEvent> {
  let id: string | undefined;
  return translateChunks(open, {
    begin: (output) => format.fromChunks(request, output),
    onChunk(chunk) {
      if (id === undefined) tell();
      chunk.id = id ??= answerId ?? createId(format.wire);
      if (modelId !== undefined) chunk.model = modelId;
      observeChunk(chunk, record);
    },
    toldCost: () => record.toldCost,
  });
}

/** Passes an upstream's events on. @throws AppError for a stream that is cut off or tells a failure */
export async function* readEvents<Request extends WireRequest>(
  events: AsyncIterable<WireEvent>,
  { format, record, tell, answerId, modelId }: Observed<Request> & { readonly modelId: string },
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
    if (isFirst) {
      tell();
      record.onModel(modelId);
    }
    isFirst = false;
    const chunk = read(event);
    if (chunk !== undefined) observeChunk(answerId === undefined ? chunk : { ...chunk, id: answerId }, record);
    const named = format.withModel(event, modelId);
    yield format.hasFinalUsage(named) ? format.withCost(named, record.toldCost) : named;
    if (format.isLast(event)) return;
  }
  throw new AppError("upstream_failed", "The engine ended its stream before the answer was complete.");
}
