/** Applies the timeouts of upstream requests with one timer for all of them. */
import type { EngineTimeouts, TargetTimeouts } from "../../config/engines/upstream.ts";
import { IndexedSet, type IndexedSetMember } from "../../indexed-set.ts";

export interface TimeLimits {
  /** For a connection, once the request has left the queue. */
  readonly connectTimeoutMs: number;
  /** Until the first valid frame of a stream. */
  readonly firstByteTimeoutMs: number;
  /** Between two reads of a stream. */
  readonly idleTimeoutMs: number;
  /** For the whole call. */
  readonly totalTimeoutMs: number;
}

/** An engine's limits, with a target's own in their place. */
export function timeLimits(engine: EngineTimeouts, target: TargetTimeouts = {}): TimeLimits {
  return {
    connectTimeoutMs: target.connect_timeout_ms ?? engine.connect_timeout_ms,
    firstByteTimeoutMs: target.first_byte_timeout_ms ?? engine.first_byte_timeout_ms,
    idleTimeoutMs: target.idle_timeout_ms ?? engine.idle_timeout_ms,
    totalTimeoutMs: target.total_timeout_ms ?? engine.total_timeout_ms,
  };
}

/** Something that ends itself when its time is up. */
export interface DeadlineTarget extends IndexedSetMember {
  checkTime(nowMs: number): void;
}

const tickMs = 100;
/** A tick this long after the previous one checks nothing; the next one does, however late. */
const lateMs = 200;

/**
 * Checks all deadlines ten times a second: limits are accurate to a tenth of a second, and neither a call nor
 * an event costs a timer. It stops while there is nothing to watch, and never keeps the process alive.
 */
export class DeadlineWatch {
  readonly #watched = new IndexedSet<DeadlineTarget>();
  #timer: NodeJS.Timeout | undefined;
  #lastTickMs = 0;

  add(timed: DeadlineTarget): void {
    this.#watched.add(timed);
    if (this.#timer === undefined) {
      this.#lastTickMs = performance.now();
      this.#timer = setInterval(() => this.#tick(), tickMs);
      this.#timer.unref();
    }
  }

  remove(timed: DeadlineTarget): void {
    this.#watched.delete(timed);
  }

  #tick(): void {
    const nowMs = performance.now();
    // After a pause of the process itself, data that arrived meanwhile must be read before anything times out.
    const isLate = nowMs - this.#lastTickMs > lateMs;
    this.#lastTickMs = isLate ? Infinity : nowMs;
    if (isLate) return;
    this.#watched.forEach((timed) => timed.checkTime(nowMs));
    if (this.#watched.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }
}
