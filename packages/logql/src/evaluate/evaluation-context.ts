/** What all parts of one query's evaluation share. */
import type { Budget } from "@sounding/promql/evaluate/budget";
import type { LogqlStorage } from "../storage.ts";
import { queryError, type LogqlLimits } from "./limits.ts";

export interface EvaluationContext {
  readonly storage: LogqlStorage;
  readonly budget: Budget;
  readonly limits: LogqlLimits;
  readonly read: ReadCounter;
  /** Ends the reading: the caller left, or another part of the query failed. */
  readonly signal: AbortSignal;
}

/** Counts what a query reads from the store. */
export class ReadCounter {
  entries = 0;
  bytes = 0;
  readonly #limits: LogqlLimits;

  constructor(limits: LogqlLimits) {
    this.#limits = limits;
  }

  add(entries: number, bytes: number): void {
    this.entries += entries;
    this.bytes += bytes;
    const { maxBytesRead, maxEntriesRead } = this.#limits;
    const advice = "Select fewer streams or a shorter time.";
    if (this.entries > maxEntriesRead) {
      throw queryError(`the query would read more than ${maxEntriesRead} entries, the limit. ${advice}`);
    }
    if (this.bytes > maxBytesRead) {
      throw queryError(`the query would read more than ${maxBytesRead} bytes, the limit. ${advice}`);
    }
  }
}
