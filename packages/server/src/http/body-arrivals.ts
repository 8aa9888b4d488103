/** Ends requests whose body makes no progress: an open request costs memory, and a client that is gone may never say so. */
import { PacedTasks } from "../scheduling/paced-tasks.ts";

/** A body that is being received. */
export interface ArrivingBody {
  /** Any number that grows while bytes arrive; undefined: the body is complete, and the watch ends. */
  received(): number | undefined;
  /** Called once, when nothing has arrived for the time. */
  giveUp(): void;
}

interface Watched {
  readonly body: ArrivingBody;
  received: number | undefined;
  changedMs: number;
}

const longestCheckMs = 1_000;

export class BodyArrivals {
  readonly #idleMs: number;
  readonly #watched = new Set<Watched>();
  readonly #endings = new PacedTasks();
  #timer: NodeJS.Timeout | undefined;

  /** @param idleMs the longest time without progress */
  constructor(idleMs: number) {
    this.#idleMs = idleMs;
  }

  /** @returns ends the watch */
  watch(body: ArrivingBody): () => void {
    const watched = { body, received: body.received(), changedMs: performance.now() };
    this.#watched.add(watched);
    this.#timer ??= setInterval(() => this.#check(), Math.min(longestCheckMs, this.#idleMs / 4)).unref();
    return () => void this.#watched.delete(watched);
  }

  #check(): void {
    const nowMs = performance.now();
    for (const watched of this.#watched) {
      const received = watched.body.received();
      if (received === undefined) this.#watched.delete(watched);
      else if (received !== watched.received) {
        watched.received = received;
        watched.changedMs = nowMs;
      } else if (nowMs - watched.changedMs > this.#idleMs) {
        this.#watched.delete(watched);
        this.#endings.add(() => watched.body.giveUp());
      }
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
