/** Reads log entries one by one and renders them, the oldest first, one per line. */
import { styleText } from "node:util";
import type { AsyncSounding, LogsQueryParams, LogsResult } from "@sounding/client";
import { printable } from "../output.ts";

export interface LogEntry {
  /** Nanoseconds since 1970. */
  readonly timestampNs: bigint;
  readonly message: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The entries of all streams, oldest first. */
export function entriesOf(result: LogsResult): LogEntry[] {
  return result.samples
    .flatMap(({ stream, values }) =>
      values.map(([timestampNs, message]) => ({ timestampNs: BigInt(timestampNs), message, labels: stream })),
    )
    .sort((left, right) => (left.timestampNs < right.timestampNs ? -1 : left.timestampNs > right.timestampNs ? 1 : 0));
}

const levelStyles = { debug: "gray", info: "cyan", warning: "yellow", error: "red" } as const;

/** One entry for a terminal: time, level, project and service, message. */
export function formatEntry({ timestampNs, message, labels }: LogEntry, colors: boolean): string {
  const style = (name: Parameters<typeof styleText>[0], text: string): string =>
    colors ? styleText(name, text, { validateStream: false }) : text;
  const severity = labels["severity"] ?? "info";
  const level = severity.toUpperCase().padEnd(7);
  const time = new Date(Number(timestampNs / 1_000_000n)).toISOString().replace("T", " ");
  const from = `${labels["project_name"] ?? ""}/${labels["service_name"] ?? ""}`;
  return [
    style("gray", time),
    style(levelStyles[severity as keyof typeof levelStyles] ?? "cyan", level),
    style("bold", printable(from)),
    // Additional lines of a message are indented under the first one.
    printable(message).trimEnd().replaceAll("\n", "\n  "),
  ].join("  ");
}

/** An entry as one JSON value. */
export function entryJson({ timestampNs, message, labels }: LogEntry): Record<string, unknown> {
  return { timestamp_ns: String(timestampNs), message, labels };
}

/** How far back each poll looks while following, because senders deliver late. */
const followWindow = "5m";
const followWindowNs = 300_000_000_000n;
const followLimit = 5000;

/** Yields new entries, ordered by time within each poll. Ends when the signal is aborted. */
export async function* followLogs(
  client: AsyncSounding,
  params: Pick<LogsQueryParams, "severity" | "project_name">,
  { signal, intervalMs, seen: first }: { signal: AbortSignal; intervalMs: number; seen: readonly LogEntry[] },
): AsyncGenerator<LogEntry, void, undefined> {
  const seen = new Map(first.map((entry) => [identityOf(entry), entry.timestampNs]));
  while (!signal.aborted) {
    const query = { ...params, time_window: followWindow, limit: followLimit };
    for (const entry of entriesOf(await client.logs.query(query, { signal }))) {
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
