/** A vendor's model as a `ChatModel`: translate, call, translate back; every failure an AppError. */
import { randomUUID } from "node:crypto";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Dispatcher } from "undici";
import type { ChatCompletion, ChatCompletionChunk } from "../../api/chat-answer.ts";
import type { ChatRequest } from "../../api/chat-request.ts";
import { AppError } from "../../errors.ts";
import type { ChatCall, ChatModel } from "../model.ts";
import { toChoice, toUsage } from "./answer.ts";
import { toCallOptions } from "./call-options.ts";
import { toChunks, type AnswerHead } from "./chunks.ts";
import { joinCompletions, joinStreams, toChoiceRequest } from "./fan-out.ts";
import { beginLiveCall, type LiveCall } from "./live-call.ts";
import { passThroughMembers, refuseUnsupportedParameters, unsupported } from "./parameter-support.ts";
import { mergeMembers } from "./pass-through.ts";
import type { JsonObject, ModelFactory, Vendor } from "./vendor.ts";
import { toVendorFailure } from "./vendor-failure.ts";
import { createVendorFetch, type StreamLimits } from "./vendor-fetch.ts";

export interface VendorConnection {
  readonly vendor: Vendor;
  readonly dispatcher: Dispatcher;
  /** Aborted, with an AppError, when the engine closes. */
  readonly closing: AbortSignal;
  readonly totalTimeoutMs: number;
  readonly streamLimits: StreamLimits;
  readonly maxChoices: number;
  loadFactory(): Promise<ModelFactory>;
  /** Throws for what the adapter would drop. */
  rehearse(request: ChatRequest, model: string): Promise<void>;
}

interface PreparedCall {
  readonly model: LanguageModelV4;
  readonly options: LanguageModelV4CallOptions;
}

function bodyCompletion(request: ChatRequest, vendor: Vendor): ((body: JsonObject) => void) | undefined {
  const members = vendor.passThrough === "body" ? passThroughMembers(request) : {};
  if (vendor.completeBody === undefined && Object.keys(members).length === 0) return undefined;
  return (body) => {
    vendor.completeBody?.(body, request);
    mergeMembers(body, members, vendor.label);
  };
}

async function* readParts(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): AsyncGenerator<LanguageModelV4StreamPart> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    // The call's signal ends the transport; a cancelled reader has nothing more to tell.
    reader.cancel().catch(() => {});
  }
}

export function createVendorChat(modelName: string, connection: VendorConnection): ChatModel {
  const { vendor } = connection;

  function begin(call: ChatCall): LiveCall {
    return beginLiveCall({
      signal: call.signal,
      requestId: call.requestId,
      engineSignal: connection.closing,
      totalTimeoutMs: connection.totalTimeoutMs,
      label: vendor.label,
    });
  }

  function toFailure(thrown: unknown, live: LiveCall): AppError {
    const reason: unknown = live.signal.reason;
    return reason instanceof AppError ? reason : toVendorFailure(thrown, vendor);
  }

  /** Everything that can be refused is refused here, before a byte leaves. */
  async function check(request: ChatRequest): Promise<number> {
    refuseUnsupportedParameters(request, vendor);
    const choices = request.n ?? 1;
    if (choices > connection.maxChoices) {
      throw unsupported(vendor.label, "n", `it is ${choices}; at most ${connection.maxChoices} choices are allowed.`);
    }
    toCallOptions(request, vendor);
    await connection.rehearse(request, modelName);
    return choices;
  }

  async function prepare(request: ChatRequest, live: LiveCall, limits?: StreamLimits): Promise<PreparedCall> {
    const fetch = createVendorFetch({
      dispatcher: connection.dispatcher,
      call: live,
      label: vendor.label,
      limits,
      completeBody: bodyCompletion(request, vendor),
    });
    const create = await connection.loadFactory();
    const headers = live.requestId === undefined ? {} : { headers: { "x-request-id": live.requestId } };
    const options = { ...toCallOptions(request, vendor), abortSignal: live.signal, ...headers };
    return { model: create(modelName, fetch), options };
  }

  const newHead = (): AnswerHead => ({
    id: `chatcmpl-${randomUUID()}`,
    created: Math.floor(Date.now() / 1000),
    model: modelName,
  });

  async function completeOne(request: ChatRequest, live: LiveCall): Promise<ChatCompletion> {
    const { model, options } = await prepare(request, live);
    const result = await model.doGenerate(options);
    const head = newHead();
    const { id = head.id, modelId = head.model, timestamp } = result.response ?? {};
    const usage = toUsage(result.usage);
    return {
      id,
      object: "chat.completion",
      created: timestamp === undefined ? head.created : Math.floor(timestamp.getTime() / 1000),
      model: modelId,
      choices: [toChoice(result, vendor)],
      ...(usage === undefined ? {} : { usage }),
    };
  }

  async function* streamOne(request: ChatRequest, live: LiveCall): AsyncGenerator<ChatCompletionChunk> {
    const { model, options } = await prepare(request, live, connection.streamLimits);
    const { stream } = await model.doStream(options);
    yield* toChunks(readParts(stream), newHead(), vendor);
  }

  return {
    async complete(call) {
      const live = begin(call);
      try {
        const choices = await check(call.request);
        if (choices === 1) return await completeOne(call.request, live);
        const requests = Array.from({ length: choices }, (_, index) => toChoiceRequest(call.request, index));
        return joinCompletions(await Promise.all(requests.map((request) => completeOne(request, live))));
      } catch (error) {
        throw toFailure(error, live);
      } finally {
        live.close();
      }
    },

    async *stream(call) {
      const live = begin(call);
      try {
        const choices = await check(call.request);
        if (choices === 1) {
          yield* streamOne(call.request, live);
          return;
        }
        const requests = Array.from({ length: choices }, (_, index) => toChoiceRequest(call.request, index));
        yield* joinStreams(
          requests.map((request) => streamOne(request, live)),
          () => live.close(),
        );
      } catch (error) {
        throw toFailure(error, live);
      } finally {
        live.close();
      }
    },
  };
}
