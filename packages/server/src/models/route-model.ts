/**
 * A route as a model: callers see one model that answers, and routing tries targets, retries and fallbacks behind
 * it. Nothing is tried again once a chunk was given to the caller.
 */
import type { ChatCompletion, ChatCompletionChunk } from "../api/chat-answer.ts";
import { AppError, toAppError } from "../errors.ts";
import type { ChatCall, ChatModel } from "./model.ts";
import { abortReason, callError, moreUseful, remedyFor } from "./retry.ts";
import type { Route } from "./route.ts";
import { tryRoute, type Open, type Opened, type Timing } from "./try-route.ts";

export interface RouteModelOptions {
  readonly timing: Timing;
  /** The route of a call that begins, its lease entered. */
  enter(): Route;
  /** Whether the caller may use a fallback with this model ID. */
  allows(modelId: string): boolean;
}

interface OpenStream {
  readonly chunks: AsyncIterator<ChatCompletionChunk>;
  readonly first: ChatCompletionChunk;
}

/** @returns a model whose answers carry, as `model`, the ID of the route that answered */
export function createRouteModel(options: RouteModelOptions): ChatModel {
  return {
    complete: (call) => complete(options, call),
    stream: (call) => stream(options, call),
  };
}

async function complete(options: RouteModelOptions, call: ChatCall): Promise<ChatCompletion> {
  const route = options.enter();
  try {
    const { value, visit, modelId } = await tryRoutes(route, call, { options, open: openAnswer });
    visit.leave();
    value.model = modelId;
    return value;
  } finally {
    route.lease.leave();
  }
}

async function* stream(options: RouteModelOptions, call: ChatCall): AsyncGenerator<ChatCompletionChunk, void> {
  const route = options.enter();
  let phase: "opening" | "reading" | "yielding" = "opening";
  let opened: Opened<OpenStream> | undefined;
  try {
    opened = await tryRoutes(route, call, { options, open: openStream });
    const { chunks, first } = opened.value;
    for (let chunk = first; ;) {
      chunk.model = opened.modelId;
      phase = "yielding";
      yield chunk;
      phase = "reading";
      const next = await chunks.next();
      if (next.done === true) return;
      chunk = next.value;
    }
  } catch (thrown) {
    const error = callError(thrown, call.signal);
    // A failure after the first chunk is final, but the next calls should know of it.
    if (phase === "reading") opened?.visit.fail(options.timing.nowMs(), error);
    throw error;
  } finally {
    try {
      // The caller left the loop.
      if (phase === "yielding") await opened?.value.chunks.return?.();
    } finally {
      opened?.visit.leave();
      route.lease.leave();
    }
  }
}

const openAnswer: Open<ChatCompletion> = (model, call) => model.complete(call);

const openStream: Open<OpenStream> = async (model, call) => {
  const chunks = model.stream(call)[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) throw new AppError("upstream_failed", "The engine ended its stream before the first chunk.");
  return { chunks, first: first.value };
};

/** The model that was asked for, then its fallbacks in order. */
async function tryRoutes<T>(
  asked: Route,
  call: ChatCall,
  { options, open }: { options: RouteModelOptions; open: Open<T> },
): Promise<Opened<T>> {
  if (call.signal.aborted) throw abortReason(call.signal);
  const { timing } = options;
  let failure: AppError;
  try {
    return await tryRoute(asked, call, { open, timing });
  } catch (thrown) {
    failure = toAppError(thrown);
    if (call.signal.aborted || remedyFor(failure.code) === "stop") throw failure;
  }
  for (const fallback of asked.fallbacks) {
    if (!options.allows(fallback.id)) continue;
    try {
      return await tryRoute(fallback, call, { open, timing });
    } catch (thrown) {
      const error = toAppError(thrown);
      if (call.signal.aborted) throw error;
      failure = moreUseful(failure, error);
    }
  }
  throw failure;
}
