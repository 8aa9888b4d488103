/** Tries the requested route, then its fallbacks in order, for batch and streaming calls. */
import type { Capability } from "../api/models.ts";
import { AppError, toAppError } from "../errors.ts";
import { abortReason } from "../abort.ts";
import { callError, preferError, classifyFailure } from "./retry.ts";
import type { ModelRoute } from "./model-route.ts";
import type { Target } from "./target.ts";
import { tryRoute, type OpenTarget, type OpenedTarget, type RoutedCall, type Timing } from "./try-route.ts";

export interface RoutingOptions {
  readonly timing: Timing;
  /** What the calls are for. */
  readonly capability: Capability;
  /** The route of a call that begins, its lease entered. */
  enter(): ModelRoute;
  /** Whether the caller may use a fallback with this model ID. */
  allows(modelId: string): boolean;
}

/** A batch answer, and the ID of the route that produced it. */
export async function routeAnswer<T>(
  options: RoutingOptions,
  call: RoutedCall,
  open: OpenTarget<T>,
): Promise<{ value: T; modelId: string }> {
  const route = options.enter();
  try {
    const { value, targetCall, modelId } = await tryRoutes(route, call, { options, open });
    targetCall.leave();
    return { value, modelId };
  } finally {
    route.lease.leave();
  }
}

interface OpenStream<T> {
  readonly items: AsyncIterator<T>;
  readonly first: T;
}

/**
 * The items of the first stream that has one. Nothing is tried again once that is out.
 * @param begin gets the ID of the target's route
 */
export async function* routeStream<T>(
  options: RoutingOptions,
  call: RoutedCall,
  begin: (target: Target, modelId: string) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const route = options.enter();
  let phase: "opening" | "reading" | "yielding" = "opening";
  let opened: OpenedTarget<OpenStream<T>> | undefined;
  try {
    const open = (target: Target, modelId: string) => openStream(begin(target, modelId));
    opened = await tryRoutes(route, call, { options, open });
    const { items, first } = opened.value;
    for (let item = first; ;) {
      phase = "yielding";
      yield item;
      phase = "reading";
      const next = await items.next();
      if (next.done === true) return;
      item = next.value;
    }
  } catch (thrown) {
    const error = callError(thrown, call.cancellation ?? call.signal);
    // A failure after the first item is final for this call, but the circuit must count it.
    if (phase === "reading") opened?.targetCall.fail(options.timing.nowMs(), error);
    throw error;
  } finally {
    try {
      // The caller left the loop.
      if (phase === "yielding") await opened?.value.items.return?.();
    } finally {
      opened?.targetCall.leave();
      route.lease.leave();
    }
  }
}

async function openStream<T>(stream: AsyncIterable<T>): Promise<OpenStream<T>> {
  const items = stream[Symbol.asyncIterator]();
  const first = await items.next();
  if (first.done === true) throw new AppError("upstream_failed", "The engine ended its stream before the first chunk.");
  return { items, first: first.value };
}

interface Tried<T> {
  readonly options: RoutingOptions;
  readonly open: OpenTarget<T>;
}

/** The requested model, then its fallbacks in order; again if they are full and the call waits for room. */
async function tryRoutes<T>(asked: ModelRoute, call: RoutedCall, tried: Tried<T>): Promise<OpenedTarget<T>> {
  for (;;) {
    try {
      return await tryOnce(asked, call, tried);
    } catch (thrown) {
      const failure = toAppError(thrown);
      if (!failure.full || call.awaitRoom === undefined) throw failure;
      await call.awaitRoom(failure);
    }
  }
}

async function tryOnce<T>(asked: ModelRoute, call: RoutedCall, { options, open }: Tried<T>): Promise<OpenedTarget<T>> {
  const cancellation = call.cancellation ?? call.signal;
  if (cancellation.aborted) throw abortReason(cancellation);
  const { capability, timing } = options;
  let failure: AppError;
  try {
    return await tryRoute(asked, call, { open, timing, capability });
  } catch (thrown) {
    failure = toAppError(thrown);
    if (cancellation.aborted || classifyFailure(failure.code) === "stop") throw failure;
  }
  for (const fallback of asked.fallbacks) {
    if (!options.allows(fallback.id)) continue;
    try {
      return await tryRoute(fallback, call, { open, timing, capability });
    } catch (thrown) {
      const error = toAppError(thrown);
      if (cancellation.aborted) throw error;
      failure = preferError(failure, error);
    }
  }
  throw failure;
}
