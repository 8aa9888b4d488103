/** Accounts how much audio was decoded for each call and each organization, by which they take turns. */

export interface CallUsage {
  /** Usage of all calls of the group, such as the organization. */
  readonly group: { usedSamples: number };
  usedSamples: number;
  /** The mean of the cepstra of its last utterance. */
  mean: Float64Array | undefined;
}

export class DecodingUsage {
  readonly #usages = new Set<CallUsage>();
  readonly #groups = new Map<string, { usedSamples: number; calls: number }>();

  /** A call's usage until it is disposed. A late call or group gets no compensation for earlier usage of others. */
  open(name: string): CallUsage & Disposable {
    const group = this.#groups.get(name) ?? { usedSamples: leastUsed(this.#groups.values()), calls: 0 };
    this.#groups.set(name, group);
    group.calls++;
    const usage: CallUsage & Disposable = {
      group,
      usedSamples: leastUsed(this.#usages),
      mean: undefined,
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

function leastUsed(usages: Iterable<{ readonly usedSamples: number }>): number {
  let least = Infinity;
  for (const { usedSamples } of usages) least = Math.min(least, usedSamples);
  return Number.isFinite(least) ? least : 0;
}

/** Whether one call's turn comes before another's. */
export function hasLessUsage(one: CallUsage, other: CallUsage): boolean {
  if (one.group !== other.group) return one.group.usedSamples < other.group.usedSamples;
  return one.usedSamples < other.usedSamples;
}
