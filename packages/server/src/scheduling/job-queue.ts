/**
 * Queues jobs of many calls. Organizations take turns. Within an organization, the first job of a call precedes later jobs
 * of other calls, so every caller gets a first result soon, but new calls cannot starve running ones. Of later jobs, the one
 * that is due first is next.
 */
import { RoundRobinQueue } from "./round-robin-queue.ts";

export interface QueuedJob {
  /** Whether it is the first job of its call. */
  readonly first: boolean;
  /** The caller's group, such as the organization: groups take turns. */
  readonly group: string;
  /** When its result is needed, by the monotonic clock; absent: in order of arrival. */
  readonly dueMs?: number | undefined;
  reject(error: unknown): void;
}

/** How a job is queued. */
export interface JobOptions {
  /** Whether it is the first job of its call. */
  readonly first: boolean;
  /** See `fairnessKey` of a call. */
  readonly group?: string | undefined;
  /** When its result is needed, such as when a listener has heard all that came before, by the monotonic clock. */
  readonly dueMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** Maximum number of consecutive first jobs while a later one is queued. */
const mostFirstsInARow = 8;

export class JobQueue<Job extends QueuedJob> {
  readonly #first = new RoundRobinQueue<Job>();
  readonly #later = new RoundRobinQueue<Job>(({ dueMs = 0 }) => dueMs);
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

  /** Removes a job that is still queued. */
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
