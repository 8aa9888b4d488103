/**
 * Queues jobs of many calls. Organizations take turns. Within an organization, the first job of a call precedes later jobs
 * of other calls, so every caller gets a first result soon, but new calls cannot starve running ones.
 */
import { RoundRobinQueue } from "../scheduling/round-robin-queue.ts";

export interface QueuedJob {
  /** Whether it is the first piece of its call. */
  readonly first: boolean;
  /** Whose work it is, such as the organization: groups take turns. */
  readonly group: string;
  reject(error: unknown): void;
}

/** For whom a piece of work is done. */
export interface JobOptions {
  /** Whether it is the first piece of its call. */
  readonly first: boolean;
  /** See `fairnessKey` of a call. */
  readonly group?: string | undefined;
  readonly signal: AbortSignal;
}

/** First pieces that go before a later one that waits. */
const mostFirstsInARow = 8;

export class JobQueue<Job extends QueuedJob> {
  readonly #first = new RoundRobinQueue<Job>();
  readonly #later = new RoundRobinQueue<Job>();
  #firstsInARow = 0;

  get length(): number {
    return this.#first.size + this.#later.size;
  }

  push(job: Job): void {
    this.#lineOf(job).push(job.group, job);
  }

  next(): Job | undefined {
    const firstGoes = this.#first.size > 0 && (this.#firstsInARow < mostFirstsInARow || this.#later.size === 0);
    this.#firstsInARow = firstGoes ? this.#firstsInARow + 1 : 0;
    return (firstGoes ? this.#first : this.#later).next()?.item;
  }

  /** Takes a job out of the queue, if it still waits. */
  remove(job: Job): void {
    this.#lineOf(job).remove(job.group, job);
  }

  rejectAll(error: unknown): void {
    for (const job of [...this.#first.drain(), ...this.#later.drain()]) job.reject(error);
  }

  #lineOf({ first }: Job): RoundRobinQueue<Job> {
    return first ? this.#first : this.#later;
  }
}
