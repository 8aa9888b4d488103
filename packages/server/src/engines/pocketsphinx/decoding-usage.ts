/** Accounts how much audio was decoded for each call and each organization, by which they take turns. */

export interface CallUsage {
  /** What all calls of the caller's group, such as the organization, have had. */
  readonly group: { usedSamples: number };
  usedSamples: number;
  /** The mean of the cepstra of its last utterance. */
  mean: Float64Array | undefined;
}

export class DecodingUsage {
  readonly #shares = new Set<CallUsage>();
  readonly #groups = new Map<string, { usedSamples: number; calls: number }>();

  /** A call's share until it is disposed. A call or group that comes late does not make up for what others had before. */
  open(name: string): CallUsage & Disposable {
    const group = this.#groups.get(name) ?? { usedSamples: leastUsed(this.#groups.values()), calls: 0 };
    this.#groups.set(name, group);
    group.calls++;
    const share: CallUsage & Disposable = {
      group,
      usedSamples: leastUsed(this.#shares),
      mean: undefined,
      [Symbol.dispose]: () => {
        if (!this.#shares.delete(share)) return;
        group.calls--;
        if (group.calls === 0) this.#groups.delete(name);
      },
    };
    this.#shares.add(share);
    return share;
  }
}

function leastUsed(shares: Iterable<{ readonly usedSamples: number }>): number {
  let least = Infinity;
  for (const { usedSamples } of shares) least = Math.min(least, usedSamples);
  return Number.isFinite(least) ? least : 0;
}

/** Whether one call's turn comes before another's. */
export function hasLessUsage(one: CallUsage, other: CallUsage): boolean {
  if (one.group !== other.group) return one.group.usedSamples < other.group.usedSamples;
  return one.usedSamples < other.usedSamples;
}
