/** Tracks one target of a route: its calls in flight, its circuit breakers, its cool-down. */
import { capabilities, type Capability } from "../api/models.ts";
import type { RoutingSettings } from "../config/models.ts";
import { AppError, type ErrorCode } from "../errors.ts";
import { Circuit, type CircuitChange } from "./circuit.ts";
import { RecentCalls } from "./recent-calls.ts";
import { classifyFailure } from "./retry.ts";
import type { EmbeddingModel } from "../engines/embedding-model.ts";
import type { ChatModel, SpeechModel, TranscriptionModel } from "../engines/engine.ts";

/** A `Retry-After` of an engine keeps other calls away for at most this long. */
const longestCoolDownMs = 60_000;

/** Failures that are the target's, not the caller's, and no mere rate limit. */
const outages: ReadonlySet<ErrorCode> = new Set(["upstream_failed", "upstream_timeout", "overloaded", "internal"]);

/**
 * The state of one model of one engine. All routes that lead there have it in common, and it outlives a reload of
 * the configuration in which the engine stays.
 */
export class TargetState {
  /** One for each capability: a model that cannot speak may chat well. */
  readonly #circuits: Readonly<Record<Capability, Circuit>>;
  readonly recent = new RecentCalls();
  inFlight = 0;
  /** Of the newest call that gave evidence; undefined if that one succeeded. */
  lastFailure: AppError | undefined;
  /** The newest failure for which the caller was not responsible, also if later calls succeeded. */
  lastError: { readonly error: AppError; readonly unixMs: number } | undefined;
  #coolUntilMs = 0;

  constructor(settings: RoutingSettings, onCircuitChange?: (capability: Capability, state: CircuitChange) => void) {
    const circuits = capabilities.map((capability) => [
      capability,
      new Circuit(settings, (state) => onCircuitChange?.(capability, state)),
    ]);
    this.#circuits = Object.fromEntries(circuits) as Record<Capability, Circuit>;
  }

  circuitOf(capability: Capability): Circuit {
    return this.#circuits[capability];
  }

  /** The first circuit that is not closed; the first one if all are. */
  get circuit(): Circuit {
    const all = Object.values(this.#circuits);
    return all.find(({ state }) => state !== "closed") ?? all[0]!;
  }

  /** Takes new settings after a reload of the configuration. */
  configure(settings: RoutingSettings): void {
    for (const circuit of Object.values(this.#circuits)) circuit.configure(settings);
  }

  /** Remaining milliseconds of the engine's `Retry-After`. */
  coolingMs(nowMs: number): number {
    return Math.max(0, this.#coolUntilMs - nowMs);
  }

  coolDown(nowMs: number, retryAfterMs: number): void {
    this.#coolUntilMs = nowMs + Math.min(retryAfterMs, longestCoolDownMs);
  }
}

/** A target of a route. */
export interface Target {
  readonly engine: string;
  /** The model's name at the engine. */
  readonly model: string;
  readonly weight: number;
  /** Most calls in flight; Infinity without a limit. */
  readonly maxConcurrent: number;
  readonly state: TargetState;
  /** Whether the model is in memory; undefined where it does not have to be loaded. */
  isLoaded(): boolean | undefined;
  /** Why the model cannot be used as it is configured; undefined if nothing is known to be wrong. */
  problem(): AppError | undefined;
  /** The model's capabilities, at least one. */
  readonly chat: ChatModel | undefined;
  readonly speech: SpeechModel | undefined;
  readonly transcription: TranscriptionModel | undefined;
  readonly embeddings: EmbeddingModel | undefined;
  /** What the model is listed for. */
  readonly listedFor: readonly Capability[];
}

/** One call at one target, from its start to its end. */
export class TargetCall {
  readonly target: Target;
  readonly #circuit: Circuit;
  readonly #probe: boolean;
  readonly #startMs: number;
  #answered = false;
  #judged = false;
  #left = false;

  constructor(target: Target, { nowMs, capability }: { readonly nowMs: number; readonly capability: Capability }) {
    this.target = target;
    this.#startMs = nowMs;
    target.state.inFlight++;
    this.#circuit = target.state.circuitOf(capability);
    this.#probe = this.#circuit.enter();
  }

  /** The engine began to answer. */
  succeed(nowMs: number): void {
    const { state } = this.target;
    this.#judged = true;
    this.#answered = true;
    state.lastFailure = undefined;
    state.recent.answered(nowMs, nowMs - this.#startMs);
    this.#circuit.succeed(nowMs, this.#probe);
  }

  /** The call failed, perhaps after the engine began to answer. */
  fail(nowMs: number, error: AppError): void {
    const { state } = this.target;
    if (error.code !== "client_closed") state.recent.failed(nowMs, error.code, this.#answered);
    // What is wrong with a caller's request may quote the request.
    if (classifyFailure(error.code) === "retry" || classifyFailure(error.code) === "other_target")
      state.lastError = { error, unixMs: Date.now() };
    if (error.retryAfterMs !== undefined) state.coolDown(nowMs, error.retryAfterMs);
    if (!outages.has(error.code) || error.full) return;
    // That a model is being restarted says less than why it failed.
    if (error.code !== "overloaded" || state.lastFailure === undefined) state.lastFailure = error;
    // The target refuses at once until it is mended: the circuit would hide the reason, and keep calls away after that.
    if (error.lasting) return;
    // A probe that began well has closed the circuit already: a failure after that counts like any other.
    this.#circuit.fail(nowMs, this.#probe && !this.#judged);
    this.#judged = true;
  }

  /** Must be called exactly once, at the end of the call. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.target.state.inFlight--;
    if (!this.#judged) this.#circuit.release(this.#probe);
  }
}
