/**
 * Shares the embedded engine's memory for queries between organizations. Each statement holds what it may use while it runs, and
 * afterwards its result until that is sent. A statement that does not fit waits in a queue that is fair between organizations.
 * The rest of the engine's memory is for inserts, merges and caches.
 */
import { onAbort } from "../../abort.ts";
import { RoundRobinQueue } from "../../scheduling/round-robin-queue.ts";
import { ByteShares } from "../byte-shares.ts";

export interface ReadGrant {
  readonly bytes: number;
  /** Returns what is above this. */
  shrink(bytes: number): void;
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  admit(): void;
}

/** Of the engine's memory; another eighth is for organizations that hold little while others hold all of it. */
const totalShare = 1 / 2;
const organizationShare = 3 / 8;
/** With this, as many statements fit as the engine runs at a time. */
const smallShare = 1 / 16;
const leastSmallBytes = 33_554_432;

export class ReadMemory {
  /** For one statement of any size. */
  readonly mostBytes: number;
  /** What most statements need. */
  readonly smallBytes: number;
  readonly #totalBytes: number;
  readonly #held: ByteShares;
  readonly #queue = new RoundRobinQueue<Waiting>();

  constructor(memoryBytes: number) {
    this.#totalBytes = Math.floor(memoryBytes * totalShare);
    this.mostBytes = Math.floor(memoryBytes * organizationShare);
    this.smallBytes = Math.min(this.mostBytes, Math.max(leastSmallBytes, Math.floor(memoryBytes * smallShare)));
    this.#held = new ByteShares({ totalBytes: this.#totalBytes, organizationBytes: this.mostBytes });
  }

  /** Bytes that are held. */
  get bytes(): number {
    return this.#held.bytes;
  }

  /** The most that a statement of the organization may get now, while others hold or await memory. */
  shareOf(organizationId: string): number {
    const othersHold = this.#held.bytes > this.#held.of(organizationId);
    const othersWait = this.#queue.size > this.#queue.waitingOf(organizationId);
    return othersHold || othersWait ? Math.min(this.mostBytes, Math.floor(this.#totalBytes / 2)) : this.mostBytes;
  }

  /** Waits until the bytes are free. @throws the signal's reason */
  async take(organizationId: string, bytes: number, signal: AbortSignal): Promise<ReadGrant> {
    signal.throwIfAborted();
    const isFirst = this.#queue.waitingOf(organizationId) === 0;
    if (isFirst && this.#held.take(organizationId, bytes) === undefined) return this.#grant(organizationId, bytes);
    const { promise, resolve, reject } = Promise.withResolvers<ReadGrant>();
    const waiting: Waiting = {
      bytes,
      admit: () => {
        this.#held.add(organizationId, bytes);
        resolve(this.#grant(organizationId, bytes));
      },
    };
    this.#queue.push(organizationId, waiting);
    using _listener = onAbort(signal, () => {
      if (!this.#queue.remove(organizationId, waiting)) return;
      reject(signal.reason);
      this.#admit();
    });
    return await promise;
  }

  #grant(organizationId: string, bytes: number): ReadGrant {
    let held = bytes;
    const shrink = (rest: number): void => {
      if (rest >= held) return;
      this.#held.release(organizationId, held - rest);
      held = rest;
      this.#admit();
    };
    return { bytes, shrink, release: () => shrink(0) };
  }

  /** Of the organizations whose next statement fits, the one that holds least goes first. */
  #admit(): void {
    const load = (organizationId: string): number => {
      const fits = this.#held.fullFor(organizationId, this.#queue.first(organizationId)!.bytes) === undefined;
      return fits ? this.#held.of(organizationId) : Infinity;
    };
    for (let next = this.#queue.next(load); next !== undefined; next = this.#queue.next(load)) next.item.admit();
  }
}
