/**
 * Tries the targets of one route, one after another, until one starts to answer.
 * docs/adr/0008-routing-and-guardrails.md
 */
import type { Capability } from "../api/models.ts";
import { AppError, defaultRetryAfterMs } from "../errors.ts";
import type { Attempt } from "../engines/engine.ts";
import { pickTarget } from "./pick-target.ts";
import { abortReason } from "../abort.ts";
import type { AbortSource } from "../cancellation.ts";
import { backoffMs, callError, preferError, classifyFailure } from "./retry.ts";
import type { ModelRoute } from "./model-route.ts";
import { TargetCall, type Target } from "./target.ts";

/** What routing needs of the world; tests replace it. */
export interface Timing {
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Ends early, without an error, when the signal aborts. */
  readonly sleep: (durationMs: number, signal: AbortSignal) => Promise<void>;
}

/** What routing needs to know about a call of any kind. */
export interface RoutedCall {
  readonly signal: AbortSignal;
  /** As in `ChatCall`. */
  readonly cancellation?: AbortSource | undefined;
  onAttempt?(attempt: Attempt): void;
  /**
   * Waits until a model that is full may have room; then the call is tried again. Absent: the call fails at once.
   * @throws AppError if the call waited long enough
   */
  awaitRoom?: ((error: AppError) => Promise<void>) | undefined;
}

/** Begins the call at a target: the answer itself, or a stream with its first piece. @param modelId the route's ID */
export type OpenTarget<T> = (target: Target, modelId: string) => Promise<T>;

/** A target that answers. The call must be ended when the answer is complete. */
export interface OpenedTarget<T> {
  readonly value: T;
  readonly targetCall: TargetCall;
  readonly modelId: string;
}

const none: ReadonlySet<Target> = new Set();

/**
 * Calls a target. After a retryable failure it tries another target immediately; once all have failed, it pauses and
 * starts over, until `attempts` retries are used up.
 * @throws AppError the most useful failure, or the abort
 */
export async function tryRoute<T>(
  route: ModelRoute,
  call: RoutedCall,
  { open, timing, capability }: { open: OpenTarget<T>; timing: Timing; capability: Capability },
) {
  let tried = none;
  let spent = none;
  let failure: AppError | undefined;
  let round = 0;
  for (let tries = 0; tries <= route.retries.attempts;) {
    const nowMs = timing.nowMs();
    const target = pickTarget(route.targets, { nowMs, random: timing.random, except: tried, capability });
    if (target === undefined) {
      if (failure === undefined) throw unavailable(route, nowMs, capability);
      const pauseMs = pauseBefore(route, { tried, spent, round, timing });
      if (pauseMs === undefined) throw failure;
      await timing.sleep(pauseMs, call.signal);
      if (call.signal.aborted) throw abortReason(call.signal);
      tried = spent;
      round++;
      continue;
    }
    tries++;
    try {
      return await attempt(target, { route, call, open, timing, capability });
    } catch (thrown) {
      const error = callError(thrown, call.cancellation ?? call.signal);
      const remedy = classifyFailure(error.code);
      if (remedy === "stop" || remedy === "fallback") throw error;
      failure = preferError(failure, error);
      tried = new Set(tried).add(target);
      const tooLate = (error.retryAfterMs ?? 0) > route.retries.max_backoff_ms;
      const waits = error.full && call.awaitRoom !== undefined;
      if (remedy === "other_target" || tooLate || error.lasting || waits) spent = new Set(spent).add(target);
    }
  }
  throw failure ?? unavailable(route, timing.nowMs(), capability);
}

interface AttemptOptions<T> {
  readonly route: ModelRoute;
  readonly call: RoutedCall;
  readonly open: OpenTarget<T>;
  readonly timing: Timing;
  readonly capability: Capability;
}

async function attempt<T>(
  target: Target,
  { route, call, open, timing, capability }: AttemptOptions<T>,
): Promise<OpenedTarget<T>> {
  const startUnixMs = Date.now();
  const startMs = timing.nowMs();
  const targetCall = new TargetCall(target, { nowMs: startMs, capability });
  const report = (error: AppError | undefined): void => {
    // A call that waits for room asks once a second.
    if (error?.full === true && call.awaitRoom !== undefined) return;
    const durationMs = timing.nowMs() - startMs;
    const { engine, model } = target;
    const outcome = error?.code ?? "ok";
    call.onAttempt?.({ engine, model, modelId: route.id, outcome, error, startUnixMs, durationMs });
  };
  try {
    const value = await open(target, route.id);
    targetCall.succeed(timing.nowMs());
    report(undefined);
    return { value, targetCall, modelId: route.id };
  } catch (thrown) {
    const error = callError(thrown, call.cancellation ?? call.signal);
    targetCall.fail(timing.nowMs(), error);
    targetCall.leave();
    report(error);
    throw error;
  }
}

/** The pause before the next round of targets; undefined if none may answer soon. */
function pauseBefore(
  { retries }: ModelRoute,
  turn: { tried: ReadonlySet<Target>; spent: ReadonlySet<Target>; round: number; timing: Timing },
): number | undefined {
  const nowMs = turn.timing.nowMs();
  let restMs = Infinity;
  for (const target of turn.tried) {
    if (!turn.spent.has(target)) restMs = Math.min(restMs, target.state.coolingMs(nowMs));
  }
  if (restMs > retries.max_backoff_ms) return undefined;
  return Math.max(restMs, backoffMs(retries, turn.round, turn.timing.random));
}

function unavailable(route: ModelRoute, nowMs: number, capability: Capability): AppError {
  const inService = route.targets.filter((target) => target.weight > 0);
  const circuits = inService.map(({ state }) => state.circuitOf(capability));
  const waits = circuits.map((circuit) => circuit.retryAfterMs(nowMs) || defaultRetryAfterMs);
  const full = circuits.some((circuit) => circuit.admits(nowMs));
  const last = inService.map(({ state }) => state.lastFailure?.message).find((message) => message !== undefined);
  const reason = full
    ? "is at its concurrency limit."
    : `is temporarily out of service after repeated failures. ${last === undefined ? "" : `The last one: ${last}`}`.trim();
  return new AppError("overloaded", `The model ${JSON.stringify(route.id)} ${reason} Retry later.`, {
    retryAfterMs: Math.min(...waits, 60_000),
    full,
  });
}
