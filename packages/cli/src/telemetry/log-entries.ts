/** Reads log entries one by one, the oldest first, and follows new ones. */
import type { AsyncSounding, LogsQueryParams, LogsResult } from "@sounding/client";

export interface LogEntry {
  /** Nanoseconds since 1970. */
  readonly timestampNs: bigint;
  readonly message: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Undefined unless requested. */
  readonly attributes: Readonly<Record<string, string>> | undefined;
}

/** The filters of a query, and whether it returns attributes. */
export type LogFilter = Omit<LogsQueryParams, "cursor" | "end" | "limit" | "start" | "time_window">;

/** The entries of all streams, oldest first. */
function entriesOf(results: readonly LogsResult[]): LogEntry[] {
  return results
    .flatMap(({ samples }) => samples)
    .flatMap(({ stream, entries }) =>
      entries.map(({ timestamp_ns, message, attributes }) => ({
        timestampNs: BigInt(timestamp_ns),
        message,
        labels: stream,
        attributes,
      })),
    )
    .sort((left, right) => (left.timestampNs < right.timestampNs ? -1 : left.timestampNs > right.timestampNs ? 1 : 0));
}

/** The server's maximum. */
const entriesPerPage = 5000;

/** The newest entries, oldest first, in as many requests as their number needs. */
export async function newestEntries(
  client: AsyncSounding,
  params: LogsQueryParams & { readonly limit: number },
  signal: AbortSignal,
): Promise<LogEntry[]> {
  if (params.limit <= entriesPerPage) return entriesOf([await client.logs.query(params, { signal })]);
  const pages: LogsResult[] = [];
  let left = params.limit;
  for await (const page of client.logs.pages({ ...params, limit: entriesPerPage }, { signal })) {
    pages.push(page);
    left -= page.samples.reduce((sum, { entries }) => sum + entries.length, 0);
    if (left <= 0) break;
  }
  return entriesOf(pages).slice(-params.limit);
}

/** An entry as one JSON value. */
export function entryJson({ attributes, labels, message, timestampNs }: LogEntry): Record<string, unknown> {
  return { timestamp_ns: String(timestampNs), message, labels, attributes };
}

/** How far back each poll looks while following, because senders deliver late. */
const followWindow = "5m";
const followWindowNs = 300_000_000_000n;

/** Yields new entries, ordered by time within each poll. Ends when the signal is aborted. */
export async function* followLogs(
  client: AsyncSounding,
  filter: LogFilter,
  { signal, intervalMs, seen: first }: { signal: AbortSignal; intervalMs: number; seen: readonly LogEntry[] },
): AsyncGenerator<LogEntry, void, undefined> {
  const seen = new Map(first.map((entry) => [identityOf(entry), entry.timestampNs]));
  while (!signal.aborted) {
    const query = { ...filter, time_window: followWindow, limit: entriesPerPage };
    for (const entry of await newestEntries(client, query, signal)) {
      const identity = identityOf(entry);
      if (seen.has(identity)) continue;
      seen.set(identity, entry.timestampNs);
      yield entry;
    }
    forgetOld(seen);
    await wait(intervalMs, signal);
  }
}

function identityOf({ timestampNs, message, labels }: LogEntry): string {
  return JSON.stringify([String(timestampNs), message, labels]);
}

/** Entries too old for any further poll. */
function forgetOld(seen: Map<string, bigint>): void {
  const oldest = BigInt(Date.now()) * 1_000_000n - 2n * followWindowNs;
  for (const [identity, timestampNs] of seen) if (timestampNs < oldest) seen.delete(identity);
}

function wait(timeMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, timeMs);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
