/**
 * Follows the entries of a query: reads the newest ones every second and sends them in the order of their times. A client that
 * does not keep up loses entries; the next message lists them.
 */
import { AppError } from "../../../errors.ts";
import type { MessageSocket } from "../../../http/route.ts";
import type { LokiRange } from "../loki-parameters.ts";
import { RecentEntries } from "./recent-entries.ts";
import { messageText, type DroppedEntry, type TailEntry } from "./tail-message.ts";

export interface TailOptions {
  readonly startUnixNano: bigint;
  /** Entries that are sent first. */
  readonly limit: number;
  /** How long to wait for entries that arrive late. */
  readonly delayNanos: bigint;
  readonly categorizesLabels: boolean;
  readonly now: () => bigint;
  /** Rejects with the signal's reason when the tail ends. */
  readonly wait: (ms: number) => Promise<void>;
}

/** The newest entries of a range, at most `limit`, oldest first. */
export type ReadEntries = (range: LokiRange, limit: number) => Promise<readonly TailEntry[]>;

const pollMs = 1000;
/** Entries of one read. */
const entriesOfRead = 2000;
/** Entries of a read if their lines are so long that more would need too much memory. */
const fewestOfRead = 50;
/** Reads of a poll, from the newest entries back to those of the poll before. Older entries are dropped. */
const readsOfPoll = 5;
/** Entries may arrive this much later than their time: each poll reads these seconds again. */
const overlapNanos = 20_000_000_000n;
const entriesOfMessage = 100;
const charactersOfMessage = 262_144;
/** A client that has more than this to receive is slow. */
const slowBytes = 1_048_576;
/** How long a poll waits for a slow client, in steps. */
const slowSteps = 10;
const slowStepMs = 100;
const mostDropped = 1000;

/** Never resolves: rejects when the tail ends. @throws AppError as the store does */
export async function tailLogs(read: ReadEntries, socket: MessageSocket, options: TailOptions): Promise<never> {
  const { delayNanos, limit, now, wait } = options;
  const sender = new TailSender(socket, options);
  const recent = new RecentEntries();
  let readTo = now() - delayNanos;
  const { startUnixNano } = options;
  const first = readTo > startUnixNano ? await read({ fromUnixNano: startUnixNano, toUnixNano: readTo }, limit) : [];
  await sender.send(recent.takeNew(first));
  // Entries before the first ones were left out on purpose.
  const earliest = first.length < limit ? startUnixNano : first[0]!.unixNano;
  let mostEntries = entriesOfRead;
  for (let busyMs = 0; ;) {
    await wait(Math.max(pollMs, 2 * busyMs));
    const startedMs = performance.now();
    const toUnixNano = now() - delayNanos;
    const overlap = toUnixNano - overlapNanos;
    const fromUnixNano = max(earliest, overlap < readTo ? overlap : readTo);
    if (toUnixNano > fromUnixNano) {
      const newest = await readOrSkip(() => read({ fromUnixNano, toUnixNano }, mostEntries));
      if (newest === "too_large") mostEntries = Math.max(fewestOfRead, mostEntries >> 2);
      else if (newest !== "skipped") {
        const { found, isComplete } = await readOn(read, newest, { fromUnixNano: readTo, limit: mostEntries });
        mostEntries = Math.min(entriesOfRead, mostEntries * 2);
        recent.forgetBefore(fromUnixNano);
        if (!isComplete) sender.drop([{ labels: found[0]!.labels, unixNano: found[0]!.unixNano - 1n }]);
        await sender.send(recent.takeNew(found));
        readTo = toUnixNano;
      }
    }
    busyMs = performance.now() - startedMs;
  }
}

/**
 * Reads the entries between a time and the oldest one found, if there may be more than the limit allowed.
 * @returns whether these are all; otherwise older ones than the first are lost
 */
async function readOn(
  read: ReadEntries,
  newest: readonly TailEntry[],
  { fromUnixNano, limit }: { readonly fromUnixNano: bigint; readonly limit: number },
): Promise<{ readonly found: readonly TailEntry[]; readonly isComplete: boolean }> {
  const reads = [newest];
  const found = (): readonly TailEntry[] => reads.toReversed().flat();
  for (let last = newest; last.length === limit && last[0]!.unixNano >= fromUnixNano; last = reads.at(-1)!) {
    const { unixNano } = last[0]!;
    if (reads.length === readsOfPoll) return { found: found(), isComplete: false };
    // Other entries may have the same time as the oldest one.
    const older = await readOrSkip(() => read({ fromUnixNano, toUnixNano: unixNano + 1n }, limit));
    const isStuck = typeof older === "string" || (older.length === limit && older[0]!.unixNano === unixNano);
    if (isStuck) return { found: found(), isComplete: false };
    reads.push(older);
  }
  return { found: found(), isComplete: true };
}

/** `skipped` while the store has no capacity: the next poll reads the same range. */
async function readOrSkip(
  read: () => Promise<readonly TailEntry[]>,
): Promise<readonly TailEntry[] | "skipped" | "too_large"> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === "payload_too_large") return "too_large";
    if (error.code === "overloaded" || error.code === "rate_limited") return "skipped";
    throw error;
  }
}

/** Sends entries while the client receives them, and remembers those that it could not. */
class TailSender {
  readonly #socket: MessageSocket;
  readonly #options: TailOptions;
  #dropped: DroppedEntry[] = [];

  constructor(socket: MessageSocket, options: TailOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  async send(entries: readonly TailEntry[]): Promise<void> {
    const { categorizesLabels } = this.#options;
    let steps = slowSteps;
    for (const some of inMessages(entries)) {
      for (; this.#socket.queuedBytes > slowBytes && steps > 0; steps -= 1) await this.#options.wait(slowStepMs);
      if (this.#socket.queuedBytes > slowBytes) {
        this.drop(some);
        continue;
      }
      this.#socket.send(messageText({ entries: some, dropped: this.#dropped, categorizesLabels }));
      this.#dropped = [];
    }
  }

  drop(entries: readonly DroppedEntry[]): void {
    this.#dropped.push(...entries.slice(0, mostDropped - this.#dropped.length));
  }
}

/** The entries in the parts in which they are sent. */
function* inMessages(entries: readonly TailEntry[]): Generator<readonly TailEntry[]> {
  let part: TailEntry[] = [];
  let characters = 0;
  for (const entry of entries) {
    if (part.length === entriesOfMessage || (part.length > 0 && characters + entry.line.length > charactersOfMessage)) {
      yield part;
      part = [];
      characters = 0;
    }
    part.push(entry);
    characters += entry.line.length;
  }
  if (part.length > 0) yield part;
}

function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}
