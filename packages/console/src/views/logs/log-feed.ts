/** The lines of the view "Logs": read page by page, and followed while the view is live. Memory is bounded. */
import { batch, signal } from "@preact/signals";
import { newestFirst, type LogEntry } from "./log-entry.ts";
import type { LogsFilter } from "./log-filters.ts";
import { countEntries, readPage } from "./log-reader.ts";
import { bucketMs, SeenEntries } from "./seen-entries.ts";

export interface FeedRange {
  readonly filter: LogsFilter;
  readonly startMs: number;
  /** Exclusive; undefined: up to now. */
  readonly endMs: number | undefined;
  readonly live: boolean;
}

/** Lines that the view holds at most: more are no longer read. */
export const maximumLines = 100_000;
/** While the view is live, the oldest lines are dropped beyond this. */
export const maximumLiveLines = 20_000;
const maximumCharacters = 150_000_000;

const firstPage = 500;
const furtherPage = 2_000;

const pollIntervalMs = 1_000;
const retryIntervalMs = 5_000;
/** Each poll reads again what is that recent, since senders deliver in batches. */
const overlapMs = 5_000;
/** Entries that arrive later are found by counting, every few polls. */
const lateMs = 120_000;
const pollsPerCount = 5;
const pagesPerPoll = 10;

export class LogFeed {
  /** Newest first. */
  readonly entries = signal<readonly LogEntry[]>([]);
  readonly loading = signal(true);
  readonly loadingMore = signal(false);
  readonly error = signal<Error | undefined>(undefined);
  /** Whether there are older lines. */
  readonly hasMore = signal(false);
  /** Whether there are older lines that are not read because the view holds enough. */
  readonly full = signal(false);
  /** New lines that wait while the view is paused. */
  readonly waiting = signal(0);
  /** Lines that were dropped because newer ones came. */
  readonly dropped = signal(0);
  /** Whether lines arrived faster than they could be read. */
  readonly skipped = signal(false);
  readonly tailError = signal<Error | undefined>(undefined);

  #controller = new AbortController();
  #range: FeedRange | undefined;
  #cursor = "";
  #limit = firstPage;
  /** Less once the server could not send a page of that many long lines. */
  #largestPage = furtherPage;
  #seen = new SeenEntries();
  #clockOffsetMs = 0;
  #newestMs = 0;
  #paused = false;
  #waiting: LogEntry[] = [];

  /** Reads another range. The lines of the last one stay until the first ones of the new one arrive. */
  async load(range: FeedRange): Promise<void> {
    this.stop();
    const controller = (this.#controller = new AbortController());
    this.#range = range;
    this.#cursor = "";
    this.#limit = firstPage;
    this.#largestPage = furtherPage;
    this.#seen = new SeenEntries();
    this.#waiting = [];
    batch(() => {
      this.loading.value = true;
      this.error.value = undefined;
      this.tailError.value = undefined;
      this.waiting.value = 0;
      this.dropped.value = 0;
      this.skipped.value = false;
    });
    try {
      const page = await this.#readNext(range, controller.signal);
      this.#newestMs = page[0]?.ms ?? 0;
      batch(() => {
        this.entries.value = page;
        this.loading.value = false;
      });
    } catch (error) {
      if (controller.signal.aborted) return;
      batch(() => {
        this.entries.value = [];
        this.error.value = error as Error;
        this.loading.value = false;
      });
      return;
    }
    if (range.live) await this.#follow(range, controller.signal);
  }

  /** Reads the next older lines, unless they are being read. */
  async loadMore(): Promise<void> {
    const range = this.#range;
    if (range === undefined || this.loading.value || this.loadingMore.value || !this.hasMore.value) return;
    const { signal: leaving } = this.#controller;
    this.loadingMore.value = true;
    this.#limit = Math.min(this.#limit * 4, this.#largestPage);
    try {
      const page = await this.#readNext(range, leaving);
      const entries = [...this.entries.value, ...page];
      const most = range.live ? maximumLiveLines : maximumLines;
      const isFull = entries.length >= most || charactersOf(entries) >= maximumCharacters;
      batch(() => {
        this.entries.value = entries;
        if (isFull) {
          this.full.value = this.hasMore.value;
          this.hasMore.value = false;
        }
        this.error.value = undefined;
      });
    } catch (error) {
      if (!leaving.aborted) this.error.value = error as Error;
    } finally {
      if (!leaving.aborted) this.loadingMore.value = false;
    }
  }

  /** While the view is paused, new lines wait. */
  set paused(paused: boolean) {
    this.#paused = paused;
    if (!paused && this.#waiting.length > 0) {
      const entries = this.#waiting;
      this.#waiting = [];
      this.#show(entries);
    }
  }

  /** Stops every request. */
  stop(): void {
    this.#controller.abort();
    this.loading.value = false;
    this.loadingMore.value = false;
  }

  async #readNext(range: FeedRange, leaving: AbortSignal): Promise<readonly LogEntry[]> {
    const page = await readPage({ ...range, cursor: this.#cursor, limit: this.#limit, signal: leaving });
    leaving.throwIfAborted();
    if (page.limit < this.#limit) this.#largestPage = page.limit;
    this.#limit = page.limit;
    this.#cursor = page.nextCursor ?? "";
    this.#clockOffsetMs = page.clockOffsetMs;
    this.hasMore.value = page.nextCursor !== undefined;
    this.full.value = false;
    if (range.live) this.#seen.add(page.entries.filter(({ ms }) => ms >= this.#nowMs() - lateMs - bucketMs));
    return page.entries;
  }

  async #follow(range: FeedRange, leaving: AbortSignal): Promise<void> {
    for (let turn = 1; !leaving.aborted; turn += 1) {
      await wait(this.tailError.value === undefined ? pollIntervalMs : retryIntervalMs, leaving);
      if (document.hidden) continue;
      try {
        await this.#poll(range, leaving);
        if (turn % pollsPerCount === 0) await this.#readLate(range, leaving);
        this.tailError.value = undefined;
      } catch (error) {
        if (!leaving.aborted) this.tailError.value = error as Error;
      }
    }
  }

  /** Reads what is newer than the newest line, with an overlap. */
  async #poll(range: FeedRange, leaving: AbortSignal): Promise<void> {
    const nowMs = this.#nowMs();
    const newestMs = this.#newestMs === 0 ? nowMs - lateMs : Math.min(this.#newestMs, nowMs);
    const startMs = Math.max(range.startMs, newestMs - overlapMs);
    let cursor: string | undefined = "";
    for (let count = 0; cursor !== undefined; count += 1) {
      if (count === pagesPerPoll) {
        this.skipped.value = true;
        this.#newestMs = nowMs;
        break;
      }
      const query = { filter: range.filter, startMs, direction: "forward", limit: furtherPage } as const;
      const page = await readPage({ ...query, cursor, signal: leaving });
      cursor = page.nextCursor;
      this.#newestMs = Math.max(this.#newestMs, page.entries[0]?.ms ?? 0);
      this.#add(this.#seen.add(page.entries));
    }
    this.#seen.forgetBefore(nowMs - lateMs - bucketMs);
  }

  /** Compares the number of recent lines with the server's, and reads those that arrived late. */
  async #readLate(range: FeedRange, leaving: AbortSignal): Promise<void> {
    const floor = (ms: number) => Math.floor(ms / bucketMs) * bucketMs;
    const nowMs = this.#nowMs();
    // Older lines than the oldest on a page have not been read at all.
    const oldestMs = this.hasMore.value || this.full.value ? (this.entries.value.at(-1)?.ms ?? nowMs) : range.startMs;
    const startMs = floor(Math.max(nowMs - lateMs, oldestMs)) + bucketMs;
    const endMs = floor(nowMs - overlapMs);
    if (startMs >= endMs) return;
    const { filter } = range;
    const step = `${bucketMs / 1000}s`;
    const { buckets } = await countEntries({ filter, startMs, endMs, step, signal: leaving });
    for (const { start, debug, error, info, warning } of buckets) {
      const beginMs = Date.parse(start);
      if (beginMs < startMs || debug + error + info + warning <= this.#seen.countAt(beginMs)) continue;
      const bucket = { filter, startMs: beginMs, endMs: beginMs + bucketMs, cursor: "", limit: 5_000 };
      const page = await readPage({ ...bucket, signal: leaving });
      this.#add(this.#seen.add(page.entries));
    }
  }

  #nowMs(): number {
    return Date.now() + this.#clockOffsetMs;
  }

  #add(entries: LogEntry[]): void {
    if (entries.length === 0) return;
    if (!this.#paused) return this.#show(entries);
    this.#waiting = this.#bounded([...entries, ...this.#waiting].sort(newestFirst));
    this.waiting.value = this.#waiting.length;
  }

  #show(added: readonly LogEntry[]): void {
    batch(() => {
      this.entries.value = this.#bounded([...added, ...this.entries.value].sort(newestFirst));
      this.waiting.value = 0;
    });
  }

  /** Drops the oldest lines beyond what a live view holds. */
  #bounded(entries: LogEntry[]): LogEntry[] {
    let kept = Math.min(entries.length, maximumLiveLines);
    for (let characters = charactersOf(entries.slice(0, kept)); characters > maximumCharacters && kept > 1; kept -= 1)
      characters -= entries[kept - 1]!.size;
    if (kept < entries.length) {
      this.dropped.value += entries.length - kept;
      this.hasMore.value = false;
      this.full.value = true;
    }
    return entries.slice(0, kept);
  }
}

function charactersOf(entries: readonly LogEntry[]): number {
  return entries.reduce((sum, { size }) => sum + size, 0);
}

function wait(ms: number, leaving: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      leaving.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    leaving.addEventListener("abort", end);
  });
}
