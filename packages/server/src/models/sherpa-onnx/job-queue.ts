/** Pieces of work in line: first pieces of calls before later ones, else in the order of their coming. */
import type { Work } from "./protocol.ts";

export interface Job {
  readonly work: Work;
  readonly first: boolean;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
  /** Nobody waits for it any more. */
  cancelled: boolean;
}

export class JobQueue {
  readonly #first: Job[] = [];
  readonly #later: Job[] = [];

  get length(): number {
    return this.#first.length + this.#later.length;
  }

  push(job: Job): void {
    (job.first ? this.#first : this.#later).push(job);
  }

  next(): Job | undefined {
    for (;;) {
      const job = this.#first.shift() ?? this.#later.shift();
      if (job === undefined || !job.cancelled) return job;
    }
  }

  rejectAll(error: unknown): void {
    for (const job of [...this.#first.splice(0), ...this.#later.splice(0)]) job.reject(error);
  }
}
