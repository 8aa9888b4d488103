/**
 * Which organizations have lately kept the telemetry store busy, and for how long: the statements of one that has used it
 * much less than another go first.
 */

/** After this time, use counts half. */
const halfLifeMs = 10_000;
/** Less use than this counts as this much. */
const leastMs = 25;
/** ClickHouse serves the lowest number first. */
const lastPriority = 3;

interface Use {
  /** Until `atMs`, with older use counting less. */
  busyMs: number;
  atMs: number;
  /** Statements that keep the store busy now. */
  running: number;
}

export class ReadUsage {
  readonly #now: () => number;
  readonly #uses = new Map<string, Use>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A statement of the organization begins to keep the store busy. */
  start(organizationId: string): void {
    const use = this.#uses.get(organizationId);
    if (use === undefined) return void this.#uses.set(organizationId, { busyMs: 0, atMs: this.#now(), running: 1 });
    this.#settle(use);
    use.running += 1;
  }

  /** The statement has ended, or waits for its reader. */
  stop(organizationId: string): void {
    const use = this.#uses.get(organizationId)!;
    this.#settle(use);
    use.running -= 1;
  }

  /**
   * For the organization's next statement: 3 for the one that uses the store most, and if no other uses it; 2 from half of
   * that use, 1 from a quarter.
   */
  priorityOf(organizationId: string): number {
    let mostMs = 0;
    for (const [id, use] of this.#uses) {
      this.#settle(use);
      mostMs = Math.max(mostMs, use.busyMs);
      if (use.running === 0 && use.busyMs < 1) this.#uses.delete(id);
    }
    const ownMs = Math.max(leastMs, this.#uses.get(organizationId)?.busyMs ?? 0);
    const halvings = Math.floor(Math.log2(mostMs / ownMs));
    return lastPriority - Math.min(lastPriority - 1, Math.max(0, halvings));
  }

  #settle(use: Use): void {
    const nowMs = this.#now();
    const passedMs = nowMs - use.atMs;
    use.busyMs = use.busyMs * 0.5 ** (passedMs / halfLifeMs) + use.running * passedMs;
    use.atMs = nowMs;
  }
}
