/** The responses that this process generates in the background: writes what they do to the store, and ends them with the server. */
import { setImmediate } from "node:timers/promises";
import type { WireEvent } from "../../engines/wire.ts";
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";
import type { LogFields, Logger } from "../../logger.ts";
import { MemoryBudget, type MemoryCharge } from "../../memory-budget.ts";
import type { BackgroundProgress, BackgroundStore } from "../../tenancy/background-store.ts";
import type { ResponseOwner } from "../../tenancy/response-writer.ts";
import { BackgroundRun, type RunOptions } from "./background-run.ts";
import { logBytes } from "./event-log.ts";
import { WaitingLines } from "./waiting-lines.ts";

/** How often events are written, and other processes' orders are read. */
const intervalMs = 1_000;
/** A lease is renewed once in so many intervals. */
const renewalIntervals = 5;
/** Old events are deleted once in so many intervals. */
const sweepIntervals = 300;
const mostInGroup = 16;
const mostBytesInGroup = 1_048_576;
const mostMemory = inputLimit({
  area: "Chat completions",
  bounds: "Memory of the responses that one process generates in the background; an organization may use half of it",
  value: 134_217_728,
  unit: "bytes",
  error: "rate_limited",
});
/** What a response needs besides its request and its events. */
const runBytes = 65_536;

interface OpenRun {
  readonly run: BackgroundRun;
  readonly charge: MemoryCharge;
  readonly requestId: string;
  readonly requestBytes: number;
  /** Of the call, for the log. */
  fields: LogFields;
  /** Whether its call was not refused. */
  isAdmitted: boolean;
}

export interface NewRun extends Omit<RunOptions, "flush" | "turnOf"> {
  readonly requestId: string;
  readonly requestBytes: number;
}

export class BackgroundRuns {
  readonly #store: BackgroundStore;
  readonly #logger: Logger;
  readonly #memory = new MemoryBudget(mostMemory);
  readonly #open = new Map<string, OpenRun>();
  readonly #lines = new WaitingLines();
  readonly #interval: NodeJS.Timeout;
  #intervals = 0;
  #isTicking = false;
  #renews = false;
  #writing: Promise<void> = Promise.resolve();
  #nextWrite: Promise<void> | undefined;
  /** Set when the server began to shut down. */
  #deadlineMs: number | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(store: BackgroundStore, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
    this.#interval = setInterval(() => void this.#tick(), intervalMs).unref();
  }

  /** Undefined if this process does not generate it, or no longer. */
  find(owner: ResponseOwner, id: string): BackgroundRun | undefined {
    return this.#open.get(keyOf({ ...ownerOf(owner), id }))?.run;
  }

  /** @throws AppError rate_limited or overloaded if its organization, or the server, has too many */
  open({ requestId, requestBytes, ...options }: NewRun): BackgroundRun {
    if (this.#deadlineMs !== undefined) throw new AppError("overloaded", "The server is shutting down. Retry later.");
    const charge = this.#memory.open(options.scope.organizationId);
    // The request is there as it came and as it was parsed.
    charge.add(runBytes + requestBytes * 2 + (options.isStreamed ? logBytes : 0));
    const line = { model: String(options.response["model"]), organizationId: options.scope.organizationId };
    const turnOf: RunOptions["turnOf"] = ({ signal }) => this.#lines.turn(line, signal);
    const run = new BackgroundRun({ ...options, flush: () => this.flush(), turnOf });
    this.#open.set(keyOf(run), { run, charge, requestId, requestBytes, fields: {}, isAdmitted: false });
    return run;
  }

  note(run: BackgroundRun, fields: LogFields): void {
    const open = this.#open.get(keyOf(run));
    if (open !== undefined) open.fields = { ...open.fields, ...fields };
  }

  /** Stores it; from then on every process finds it. @throws AppError overloaded while the database is unreachable */
  async store(run: BackgroundRun): Promise<void> {
    const open = this.#open.get(keyOf(run));
    if (open !== undefined) open.isAdmitted = true;
    await this.flush();
    if (!run.isInStore) throw new AppError("overloaded", "The response could not be stored. Retry later.");
  }

  /** Generates it. Never rejects. */
  async generate(run: BackgroundRun, events: AsyncIterable<WireEvent>): Promise<void> {
    await run.consume(events);
    await this.flush();
  }

  async cancel(run: BackgroundRun): Promise<void> {
    run.cancel();
    await this.flush();
  }

  /** For a response that the client never got. */
  discard(run: BackgroundRun): void {
    this.#open.get(keyOf(run))?.charge.release();
    this.#open.delete(keyOf(run));
  }

  /** For a response that was deleted. */
  forget(run: BackgroundRun): void {
    run.cancel();
    const open = this.#open.get(keyOf(run));
    if (open !== undefined) this.#remove(open);
  }

  /** Writes what changed before this call. A failure is logged; everything is written later. */
  flush(): Promise<void> {
    this.#nextWrite ??= this.#writing.then(() => {
      this.#nextWrite = undefined;
      return (this.#writing = this.#write());
    });
    return this.#nextWrite;
  }

  async #write(): Promise<void> {
    const renews = this.#renews;
    this.#renews = false;
    const changed = [...this.#open.values()].flatMap((open) => {
      const { isAdmitted, run } = open;
      const change = isAdmitted ? (run.progress() ?? (renews ? run.renewal() : undefined)) : undefined;
      return change === undefined ? [] : [{ open, change }];
    });
    for (let rest = changed; rest.length > 0;) {
      // Other calls go on between groups, since a transaction holds the event loop.
      await setImmediate();
      const size = groupSize(rest.map(({ open }) => open.requestBytes));
      await this.#writeGroup(rest.slice(0, size));
      rest = rest.slice(size);
    }
  }

  async #writeGroup(group: readonly { readonly open: OpenRun; readonly change: BackgroundProgress }[]): Promise<void> {
    try {
      const lost = await this.#store.write(group.map(({ change }) => change));
      for (const { change, open } of group) {
        if (lost.has(change)) this.forget(open.run);
        else open.run.onWritten(change);
        if (change.ending !== undefined && !lost.has(change)) this.#remove(open);
      }
    } catch (error) {
      this.#logger.warn(
        { error, responses: group.length },
        "responses in the background were not written; they will be",
      );
    }
  }

  #remove(open: OpenRun): void {
    const { run, charge, requestId, fields } = open;
    if (!this.#open.delete(keyOf(run))) return;
    charge.release();
    if (this.#open.size === 0) this.#onEmpty?.();
    const { id, organizationId, projectName } = run;
    const line = { request_id: requestId, response_id: id, organization_id: organizationId, project: projectName };
    this.#logger.info({ ...line, status: run.response["status"], ...fields }, "a response in the background ended");
  }

  async #tick(): Promise<void> {
    this.#intervals += 1;
    if (this.#isTicking) return;
    this.#isTicking = true;
    try {
      if (this.#intervals % sweepIntervals === 0) await this.#store.removeOldEvents();
      if (this.#open.size > 0) await this.#exchange();
    } catch (error) {
      this.#logger.warn({ error }, "the state of responses in the background could not be read");
    } finally {
      this.#isTicking = false;
    }
  }

  async #exchange(): Promise<void> {
    const running = [...this.#open.values()].filter(({ run }) => run.isInStore && !run.isEnded);
    const orders = await this.#store.orders(running.map(({ run }) => run));
    for (const { run } of running) {
      const order = orders.get(run);
      if (run.isEnded || order === undefined) continue;
      if (order === "cancel") run.cancel();
      else this.forget(run);
    }
    this.#renews ||= this.#intervals % renewalIntervals === 0;
    await this.flush();
  }

  /** Takes no more responses. `close` waits for running ones until this time is over. */
  drain(timeoutMs: number): void {
    this.#deadlineMs ??= performance.now() + timeoutMs;
  }

  async close(): Promise<void> {
    const leftMs = (this.#deadlineMs ?? 0) - performance.now();
    if (this.#open.size > 0 && leftMs > 0) await this.#untilEmpty(leftMs);
    const reason = new AppError("overloaded", "The server shut down before the response was complete.");
    for (const { run } of this.#open.values()) run.stop(reason);
    clearInterval(this.#interval);
    await this.flush();
  }

  async #untilEmpty(timeoutMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    const timer = setTimeout(resolve, timeoutMs);
    await promise;
    clearTimeout(timer);
  }
}

/** A group ends with the response that exceeds it. */
function groupSize(bytes: readonly number[]): number {
  let sum = 0;
  const end = bytes.findIndex((each, index) => (sum += each) >= mostBytesInGroup || index + 1 >= mostInGroup);
  return end === -1 ? bytes.length : end + 1;
}

function ownerOf({ organizationId, projectName }: ResponseOwner): ResponseOwner {
  return { organizationId, projectName };
}

/** Names have no line breaks. */
function keyOf({ organizationId, projectName, id }: ResponseOwner & { readonly id: string }): string {
  return [organizationId, projectName, id].join("\n");
}
