/** One choice of an answer: one call of the vendor, from checked call options to a completion or its chunks. */
import { randomUUID } from "node:crypto";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ChatChoice, ChatCompletion, ChatCompletionChunk, ChatUsage } from "../../api/chat-answer.ts";
import type { ChatRequest } from "../../api/chat-request.ts";
import type { JsonObject } from "../../json-object.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";
import { toChoice, toUsage } from "./response.ts";
import { toChunks, type AnswerHead } from "./chunks.ts";
import type { VendorCall } from "./vendor-call.ts";
import { passThroughMembers } from "./parameter-support.ts";
import { mergeMembers } from "./pass-through.ts";
import type { Vendor } from "./vendor.ts";
import { liveOptions, type VendorConnection } from "./vendor-connection.ts";
import { createVendorFetch } from "./vendor-fetch.ts";

export interface ChoiceCall {
  readonly connection: VendorConnection;
  readonly model: string;
  readonly request: ChatRequest;
  /** The request, translated. */
  readonly options: LanguageModelV4CallOptions;
  readonly live: VendorCall;
  /** As in `ChatCall`. */
  onUnused(usage: ChatUsage): void;
}

function bodyCompletion(request: ChatRequest, vendor: Vendor): ((body: JsonObject) => void) | undefined {
  const members = vendor.passThrough === "body" ? passThroughMembers(request) : {};
  if (vendor.completeBody === undefined && Object.keys(members).length === 0) return undefined;
  return (body) => {
    vendor.completeBody?.(body, request);
    mergeMembers(body, members, vendor.label);
  };
}

async function openModel(call: ChoiceCall, limits?: TimeLimits): Promise<LanguageModelV4> {
  const { connection, live } = call;
  const fetch = createVendorFetch({
    dispatcher: connection.dispatcher,
    call: live,
    label: connection.vendor.label,
    limits,
    completeBody: bodyCompletion(call.request, connection.vendor),
  });
  const create = await connection.loadFactory();
  return create(fetch).languageModel(call.model);
}

const newHead = (model: string): AnswerHead => ({
  id: `chatcmpl-${randomUUID()}`,
  created: Math.floor(Date.now() / 1000),
  model,
});

/** A completion of one choice. */
export async function completeChoice(call: ChoiceCall): Promise<ChatCompletion> {
  const { vendor } = call.connection;
  const model = await openModel(call);
  const result = await model.doGenerate({ ...call.options, ...liveOptions(call.live) });
  const head = newHead(call.model);
  const { id = head.id, modelId = head.model, timestamp } = result.response ?? {};
  const usage = toUsage(result.usage);
  let choice: ChatChoice;
  try {
    choice = toChoice(result, vendor);
  } catch (error) {
    if (usage !== undefined) call.onUnused(usage);
    throw error;
  }
  return {
    id,
    object: "chat.completion",
    created: timestamp === undefined ? head.created : Math.floor(timestamp.getTime() / 1000),
    model: modelId,
    choices: [choice],
    ...(usage === undefined ? {} : { usage }),
  };
}

async function* readParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    // The call's signal ends the transport; the result of canceling the reader does not matter.
    reader.cancel().catch(() => {});
  }
}

/** The chunks of one choice. */
export async function* streamChoice(call: ChoiceCall): AsyncGenerator<ChatCompletionChunk> {
  const { vendor, limits } = call.connection;
  const model = await openModel(call, limits);
  const { stream } = await model.doStream({ ...call.options, ...liveOptions(call.live) });
  yield* toChunks(readParts(stream), newHead(call.model), { vendor, onUnused: call.onUnused });
}
