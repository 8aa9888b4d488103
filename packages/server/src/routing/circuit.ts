/**
 * Implements a circuit breaker: takes a failing target out of service, probes it with one call, and restores it gradually.
 * States: closed (in service), open (out of service), half-open (one probe is running).
 * https://martinfowler.com/bliki/CircuitBreaker.html
 */
import type { RoutingSettings } from "../config/models.ts";

/** The window is counted in this many slices, so its memory is constant under any traffic. */
const slices = 10;
/** Of the calls in the window, so that a busy target's rare failures never add up to an outage. */
const failureRatio = 0.5;
/** Share of its weight that a target gets after a successful probe; it grows to 1 over `open_ms`. */
const firstShare = 0.1;

export type CircuitChange = "open" | "closed";

export class Circuit {
  #settings: RoutingSettings;
  readonly #failures = new Float64Array(slices);
  readonly #calls = new Float64Array(slices);
  #newestSlice = 0;
  #openedAtMs: number | undefined;
  #probing = false;
  #recoveredAtMs: number | undefined;
  readonly #onChange: (state: CircuitChange) => void;

  /** @param onChange called when the circuit opens, opens again after a probe, or closes, but not by `adopt` */
  constructor(settings: RoutingSettings, onChange: (state: CircuitChange) => void = () => {}) {
    this.#settings = settings;
    this.#onChange = onChange;
  }

  /** Takes the state that another process found: since `sinceMs` of this process's clock. */
  adopt(state: CircuitChange, sinceMs: number): void {
    if (state === "open") this.#open(sinceMs);
    else if (this.#openedAtMs !== undefined) this.#close(sinceMs);
  }

  /** Takes new settings after a reload of the configuration; an open circuit stays open. */
  configure(settings: RoutingSettings): void {
    if (settings.window_ms !== this.#settings.window_ms) {
      this.#newestSlice = 0;
      this.#failures.fill(0);
      this.#calls.fill(0);
    }
    this.#settings = settings;
  }

  get state(): "closed" | "open" | "half_open" {
    if (this.#openedAtMs === undefined) return "closed";
    return this.#probing ? "half_open" : "open";
  }

  /** Whether a call may go to the target now. */
  admits(nowMs: number): boolean {
    if (this.#openedAtMs === undefined) return true;
    return !this.#probing && nowMs - this.#openedAtMs >= this.#settings.open_ms;
  }

  /** Time until a call may try an open target again, milliseconds. */
  retryAfterMs(nowMs: number): number {
    if (this.#openedAtMs === undefined) return 0;
    return Math.max(0, this.#openedAtMs + this.#settings.open_ms - nowMs);
  }

  /** The part of its weight that the target gets: less than 1 for a while after an outage. */
  share(nowMs: number): number {
    if (this.#recoveredAtMs === undefined) return 1;
    const elapsed = nowMs - this.#recoveredAtMs;
    if (elapsed >= this.#settings.open_ms) {
      this.#recoveredAtMs = undefined;
      return 1;
    }
    return firstShare + (1 - firstShare) * (elapsed / this.#settings.open_ms);
  }

  /**
   * A call begins; `admits` was true.
   * @returns whether it is the probe of an open circuit, to be passed to the method that ends the call
   */
  enter(): boolean {
    if (this.#openedAtMs === undefined) return false;
    this.#probing = true;
    return true;
  }

  succeed(nowMs: number, probe: boolean): void {
    if (!probe) return this.#count(nowMs, 0);
    this.#close(nowMs);
    this.#onChange("closed");
  }

  fail(nowMs: number, probe: boolean): void {
    if (probe) return this.#trip(nowMs);
    if (this.#openedAtMs !== undefined) return;
    this.#count(nowMs, 1);
    const failures = sum(this.#failures);
    if (failures >= this.#settings.failure_threshold && failures >= failureRatio * sum(this.#calls)) this.#trip(nowMs);
  }

  /** The call ended without evidence about the target: the caller's own error, or the client disconnected. */
  release(probe: boolean): void {
    if (probe) this.#probing = false;
  }

  #trip(nowMs: number): void {
    this.#open(nowMs);
    this.#onChange("open");
  }

  #open(nowMs: number): void {
    this.#openedAtMs = nowMs;
    this.#probing = false;
    this.#recoveredAtMs = undefined;
  }

  #close(nowMs: number): void {
    this.#openedAtMs = undefined;
    this.#probing = false;
    this.#recoveredAtMs = nowMs;
    this.#failures.fill(0);
    this.#calls.fill(0);
  }

  #count(nowMs: number, failures: 0 | 1): void {
    const slice = Math.floor((nowMs * slices) / this.#settings.window_ms);
    const passed = Math.min(slices, slice - this.#newestSlice);
    for (let back = 0; back < passed; back++) {
      this.#failures[(slice - back) % slices] = 0;
      this.#calls[(slice - back) % slices] = 0;
    }
    if (passed > 0) this.#newestSlice = slice;
    const index = this.#newestSlice % slices;
    this.#calls[index]! += 1;
    this.#failures[index]! += failures;
  }
}

function sum(counts: Float64Array): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
