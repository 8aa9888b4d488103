/**
 * Accounts how much audio was decoded for each call and each organization, by which they take turns.
 *
 * Whoever comes late starts with the least usage of the others, so that it makes up for nothing, but precedes those that
 * have had something since: a short recording need not wait for the queue of a long one.
 */

interface Usage {
  usedSamples: number;
  /** What it started with. */
  readonly initialSamples: number;
}

export interface CallUsage extends Usage {
  /** Usage of all calls of the group, such as the organization. */
  readonly group: Usage;
}

export class DecodingUsage {
  readonly #usages = new Set<CallUsage>();
  readonly #groups = new Map<string, Usage & { calls: number }>();

  /** A call's usage until it is disposed. */
  open(name: string): CallUsage & Disposable {
    const group = this.#groups.get(name) ?? { ...startAt(leastUsed(this.#groups.values())), calls: 0 };
    this.#groups.set(name, group);
    group.calls++;
    const usage: CallUsage & Disposable = {
      ...startAt(leastUsed(this.#usages)),
      group,
      [Symbol.dispose]: () => {
        if (!this.#usages.delete(usage)) return;
        group.calls--;
        if (group.calls === 0) this.#groups.delete(name);
      },
    };
    this.#usages.add(usage);
    return usage;
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
