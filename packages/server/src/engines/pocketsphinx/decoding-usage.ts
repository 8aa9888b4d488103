/**
 * Accounts how much audio was decoded for each call and each organization, by which they take turns.
 *
 * Whoever comes late starts with the least usage of the others, so that it makes up for nothing, but precedes those that
 * have had something since: a short recording need not wait for the queue of a long one.
 */
import type { QueuedJob } from "../../scheduling/job-queue.ts";
import type { WaitingQueue } from "../../child-process/pooled-process.ts";

interface Usage {
  usedSamples: number;
  /** What it started with. */
  readonly initialSamples: number;
}

export interface CallUsage extends Usage {
  /** Identifies the call among those that have an account. */
  readonly id: string;
  /** Usage of all calls of the group, such as the organization. */
  readonly group: Usage;
}

export class DecodingUsage {
  readonly #usages = new Map<string, CallUsage>();
  #opened = 0;
  readonly #groups = new Map<string, Usage & { calls: number }>();

  /** A call's usage until it is disposed. */
  open(name: string): CallUsage & Disposable {
    const group = this.#groups.get(name) ?? { ...startAt(leastUsed(this.#groups.values())), calls: 0 };
    this.#groups.set(name, group);
    group.calls++;
    const usage: CallUsage & Disposable = {
      id: String(++this.#opened),
      ...startAt(leastUsed(this.#usages.values())),
      group,
      [Symbol.dispose]: () => {
        if (!this.#usages.delete(usage.id)) return;
        group.calls--;
        if (group.calls === 0) this.#groups.delete(name);
      },
    };
    this.#usages.set(usage.id, usage);
    return usage;
  }

  /** @param id of a call that has an account */
  get(id: string): CallUsage {
    return this.#usages.get(id)!;
  }
}

/** Utterances in their order, those of the call with the least usage first. The group of a job is the ID of its call. */
export class UsageQueue<Job extends QueuedJob> implements WaitingQueue<Job> {
  readonly #usages: DecodingUsage;
  #jobs: Job[] = [];

  constructor(usages: DecodingUsage) {
    this.#usages = usages;
  }

  get length(): number {
    return this.#jobs.length;
  }

  push(job: Job): void {
    this.#jobs.push(job);
  }

  next(): Job | undefined {
    const [first, ...others] = this.#jobs;
    if (first === undefined) return undefined;
    const usageOf = ({ group }: Job): CallUsage => this.#usages.get(group);
    const next = others.reduce((best, job) => (hasLessUsage(usageOf(job), usageOf(best)) ? job : best), first);
    this.remove(next);
    return next;
  }

  remove(job: Job): void {
    this.#jobs = this.#jobs.filter((each) => each !== job);
  }

  rejectAll(error: unknown): void {
    for (const job of this.#jobs.splice(0)) job.reject(error);
  }
}

export function countUsage(usage: CallUsage, samples: number): void {
  usage.usedSamples += samples;
  usage.group.usedSamples += samples;
}

/** Whether one call's turn comes before another's. */
export function hasLessUsage(one: CallUsage, other: CallUsage): boolean {
  return one.group === other.group ? isLess(one, other) : isLess(one.group, other.group);
}

function isLess(one: Usage, other: Usage): boolean {
  if (one.usedSamples !== other.usedSamples) return one.usedSamples < other.usedSamples;
  return one.usedSamples - one.initialSamples < other.usedSamples - other.initialSamples;
}

function startAt(samples: number): Usage {
  return { usedSamples: samples, initialSamples: samples };
}

function leastUsed(usages: Iterable<Usage>): number {
  let least = Infinity;
  for (const { usedSamples } of usages) least = Math.min(least, usedSamples);
  return Number.isFinite(least) ? least : 0;
}
