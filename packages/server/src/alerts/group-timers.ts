/**
 * Runs groups at their intervals: one timer per group, offset by a hash of its identity, so that groups with the same interval do
 * not run at once. A group that still runs or waits when its time comes again skips that time. Each rule waits for a place.
 */
import { createHash } from "node:crypto";
import { FairQueue } from "../scheduling/fair-queue.ts";
import type { Clock } from "./clock.ts";

export interface TimedGroup {
  /** Identifies the group for an organization. */
  readonly id: string;
  readonly organizationId: string;
  readonly intervalMs: number;
  /**
   * Must end soon after the signal fires. What it throws is ignored then, and reported otherwise.
   * @param inPlace runs the evaluation of a rule once a place is free
   */
  run(atMs: number, signal: AbortSignal, inPlace: InPlace): Promise<void>;
}

/** @throws the signal's reason when it aborts */
export type InPlace = (evaluate: () => Promise<void>) => Promise<void>;

export interface GroupTimersOptions {
  readonly clock: Clock;
  /** How many rules are evaluated at the same time. */
  readonly places: number;
  readonly onSkip: (group: TimedGroup) => void;
  readonly onFailure: (group: TimedGroup, error: unknown) => void;
}

interface Entry {
  readonly group: TimedGroup;
  readonly ending: AbortController;
  cancel: () => void;
  running: Promise<void> | undefined;
}

/** The clock may be set meanwhile. */
const longestTimerMs = 60_000;

export class GroupTimers {
  readonly #options: GroupTimersOptions;
  readonly #queue: FairQueue;
  readonly #entries = new Map<string, Entry>();
  #isClosed = false;

  constructor(options: GroupTimersOptions) {
    this.#options = options;
    this.#queue = new FairQueue({
      places: options.places,
      // Slow rules of one organization leave a place to the others.
      placesPerGroup: Math.max(1, options.places - 1),
      maxWaiting: Infinity,
      what: "The evaluation of alert rules",
    });
  }

  add(group: TimedGroup): void {
    if (this.#isClosed) return;
    const entry: Entry = { group, ending: new AbortController(), cancel: () => {}, running: undefined };
    this.#entries.set(group.id, entry);
    this.#schedule(entry, slotAfter(group, this.#options.clock.now()));
  }

  /** Resolves once the group no longer runs. */
  async remove(id: string): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    entry.cancel();
    entry.ending.abort();
    await entry.running;
  }

  /** Groups that are added later do not run. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#entries.keys()].map((id) => this.remove(id)));
  }

  #schedule(entry: Entry, dueMs: number): void {
    const { clock } = this.#options;
    const waitMs = Math.min(Math.max(0, dueMs - clock.now()), longestTimerMs, entry.group.intervalMs);
    entry.cancel = clock.timer(() => {
      const nowMs = clock.now();
      // After a step back of the clock, the next time is far away.
      const isDue = nowMs >= dueMs || dueMs - nowMs > entry.group.intervalMs;
      if (isDue) this.#start(entry, slotAfter(entry.group, nowMs) - entry.group.intervalMs);
      this.#schedule(entry, isDue ? slotAfter(entry.group, nowMs) : dueMs);
    }, waitMs);
  }

  #start(entry: Entry, atMs: number): void {
    const { group } = entry;
    if (entry.running !== undefined) return this.#options.onSkip(group);
    entry.running = this.#run(entry, atMs).finally(() => {
      entry.running = undefined;
    });
  }

  async #run({ ending: { signal }, group }: Entry, atMs: number): Promise<void> {
    try {
      await group.run(atMs, signal, async (evaluate) => {
        const leave = await this.#queue.enter(group.organizationId, signal);
        try {
          await evaluate();
        } finally {
          leave();
        }
      });
    } catch (error) {
      if (!signal.aborted) this.#options.onFailure(group, error);
    }
  }
}

/** The first time of the group after a moment: a multiple of its interval, moved by its offset. */
function slotAfter({ id, intervalMs }: TimedGroup, ms: number): number {
  const offsetMs = createHash("sha256").update(id).digest().readUInt32BE(0) % intervalMs;
  return (Math.floor((ms - offsetMs) / intervalMs) + 1) * intervalMs + offsetMs;
}
