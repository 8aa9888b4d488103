/** Reads log entries from the API: pages of any size that the server can send, and counts by time. */
import type { LogHistogram } from "@sounding/client";
import { ApiError, request, requestJson } from "../../api/request.ts";
import { entriesOf, type LogEntry, type LogsAnswer } from "./log-entry.ts";
import type { LogsFilter } from "./log-filters.ts";

export interface PageRequest {
  readonly filter: LogsFilter;
  readonly startMs: number;
  /** Exclusive; undefined: everything up to now, and what senders with fast clocks date after it. */
  readonly endMs?: number | undefined;
  readonly direction?: "backward" | "forward";
  readonly cursor: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface Page {
  /** Newest first. */
  readonly entries: readonly LogEntry[];
  readonly nextCursor: string | undefined;
  /** The server's clock minus this computer's. */
  readonly clockOffsetMs: number;
  /** The limit that worked: less than requested if the lines are long. */
  readonly limit: number;
}

const smallestLimit = 5;

/** @throws ApiError; an AbortError if the signal fires */
export async function readPage(page: PageRequest): Promise<Page> {
  const { filter, startMs, endMs, direction, cursor, limit, signal } = page;
  const json = {
    ...filter,
    start: timeText(startMs),
    end: endMs === undefined ? undefined : timeText(endMs),
    direction,
    cursor,
    limit,
    detail: true,
    ids: true,
  };
  try {
    const response = await request("observability/logs", { json, signal });
    const answer = (await response.json()) as LogsAnswer;
    const date = Date.parse(response.headers.get("date") ?? "");
    return {
      entries: entriesOf(answer),
      nextCursor: answer.next_cursor ?? undefined,
      clockOffsetMs: Number.isNaN(date) ? 0 : date - Date.now(),
      limit,
    };
  } catch (error) {
    if (!isTooLarge(error) || limit <= smallestLimit) throw error;
    return readPage({ ...page, limit: Math.max(smallestLimit, Math.floor(limit / 5)) });
  }
}

/** A result that the server cannot hold in memory: an error about no parameter. */
function isTooLarge(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 413 || (error.status === 400 && error.param === undefined);
}

export interface CountRequest {
  readonly filter: LogsFilter;
  readonly startMs: number;
  readonly endMs?: number | undefined;
  readonly step?: string;
  readonly signal: AbortSignal;
}

/** @throws ApiError; an AbortError if the signal fires */
export function countEntries({ filter, startMs, endMs, step, signal }: CountRequest): Promise<LogHistogram> {
  const end = endMs === undefined ? undefined : timeText(endMs);
  const json = { ...filter, start: timeText(startMs), end, step };
  return requestJson<LogHistogram>("observability/logs/histogram", { json, signal });
}

function timeText(ms: number): string {
  return new Date(Math.max(0, ms)).toISOString();
}
