/** Log entries of the API's responses, one by one. */
import type { LogsResult } from "@sounding/client";

export const levels = ["error", "warning", "info", "debug"] as const;
export type Level = (typeof levels)[number];

export interface LogEntry {
  readonly id: string;
  /** UNIX time in nanoseconds. */
  readonly unixNano: string;
  readonly ms: number;
  readonly level: Level;
  readonly line: string;
  /** Shared by the entries of a stream. */
  readonly labels: Readonly<Record<string, string>>;
  readonly attributes: Readonly<Record<string, string>>;
  /** About what it takes in memory, in characters. */
  readonly size: number;
}

export type LogsAnswer = Pick<LogsResult, "data" | "next_cursor">;

/** The entries of all streams, newest first. */
export function entriesOf({ data }: LogsAnswer): LogEntry[] {
  return data.result
    .flatMap(({ stream, values }) =>
      values.map(([unixNano, line, details]) => ({
        id: details?.id ?? `${unixNano} ${line}`,
        unixNano,
        ms: Number(unixNano) / 1e6,
        level: levelOf(stream["severity"]),
        line,
        labels: stream,
        attributes: details?.structuredMetadata ?? {},
        size: sizeOf(line, details?.structuredMetadata),
      })),
    )
    .sort(newestFirst);
}

export function newestFirst(left: LogEntry, right: LogEntry): number {
  const [one, other] = [left.unixNano, right.unixNano];
  if (one.length !== other.length) return other.length - one.length;
  return one === other ? 0 : one < other ? 1 : -1;
}

function sizeOf(line: string, attributes: Readonly<Record<string, string>> = {}): number {
  let size = line.length + 400;
  for (const [name, value] of Object.entries(attributes)) size += name.length + value.length;
  return size;
}

function levelOf(severity: string | undefined): Level {
  return levels.find((level) => level === severity) ?? "info";
}

/** An entry as one JSON object, for people who copy or download it. */
export function entryJson({ attributes, labels, line, unixNano }: LogEntry): object {
  return { timestamp_ns: unixNano, message: line, labels, attributes };
}
