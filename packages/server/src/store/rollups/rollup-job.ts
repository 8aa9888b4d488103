/**
 * Sums the rows of past hours in the background, and again after late rows. One server at a time should do so; if several do,
 * each sum is a generation of its own, and one is valid. docs/adr/0035-rollups.md
 */
import { randomBytes } from "node:crypto";
import { sleep } from "../../abort.ts";
import type { Logger } from "../../logger.ts";
import { answerRows, answerText } from "../answer-text.ts";
import type { Connection, Settings } from "../connection.ts";
import type { Readiness } from "../readiness.ts";
import { StoreError } from "../store-error.ts";
import { fillRollup, registerHour, staleHours } from "./rollup-statements.ts";
import { hourNanos, type Rollup } from "./rollup.ts";
import { rollups, type RollupSource } from "./rollup-tables.ts";

export interface RollupJobOptions {
  readonly connection: Connection;
  readonly readiness: Readiness;
  /** Of the statements, for this kind of store. */
  readonly settings: Settings;
  /** How long ago the last write to an hour must be. */
  readonly delayMs: number;
  readonly logger: Logger;
}

interface StaleHour {
  readonly organization: string;
  readonly source: RollupSource;
  /** The start of the hour since 1970. */
  readonly seconds: number;
  /** The last write, as text. */
  readonly touched: string;
  readonly days: number;
}

const longestIntervalMs = 60_000;
const shortestIntervalMs = 200;
const statementTimeoutMs = 120_000;
/** An hour that failed, such as one with too many groups, is tried again after this time, then after twice the time, and so on. */
const retryMs = 3_600_000;
const longestRetryMs = 86_400_000;
/** ClickHouse's error of a statement that needs too much memory: that of one hour does not keep others from being summed. */
const memoryLimitExceeded = 241;
/** An hour with more groups is left as rows: its sums would be about as many. */
const mostGroups = 1_000_000;

/** One thread, so that queries have the others. */
const fillSettings: Settings = {
  do_not_merge_across_partitions_select_final: 1,
  max_threads: 1,
  max_rows_to_group_by: mostGroups,
  group_by_overflow_mode: "throw",
  max_execution_time: statementTimeoutMs / 1000,
};

/** Runs until the signal fires; then it ends the statement that runs. */
export async function sumPastHours(options: RollupJobOptions, signal: AbortSignal): Promise<void> {
  const { delayMs, logger, readiness } = options;
  const intervalMs = Math.max(shortestIntervalMs, Math.min(longestIntervalMs, delayMs));
  const failures = new FailedHours();
  while (!signal.aborted) {
    try {
      await readiness.whenReady(signal);
      // A newer server may keep sums that this version does not know.
      const known = (await findStaleHours(options, signal)).filter(({ source }) => rollupOf(source) !== undefined);
      for (const hour of known) {
        if (failures.has(hour)) continue;
        try {
          await sumHour(hour, options, signal);
          failures.remove(hour);
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof StoreError && error.kind === "transient" && error.code !== memoryLimitExceeded)
            throw error;
          failures.add(hour);
          const { organization, seconds, source } = hour;
          logger.warn({ error, organization_id: organization, source, hour: seconds }, "an hour could not be summed");
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      logger.warn({ error }, "past hours could not be summed and will be tried again");
    }
    await sleep(intervalMs, signal);
  }
}

/** The hours that failed lately. */
class FailedHours {
  readonly #failures = new Map<string, { readonly times: number; readonly retryAtMs: number }>();

  add(hour: StaleHour): void {
    const key = keyOf(hour);
    const times = (this.#failures.get(key)?.times ?? 0) + 1;
    const waitMs = Math.min(longestRetryMs, retryMs * 2 ** (times - 1));
    this.#failures.set(key, { times, retryAtMs: performance.now() + waitMs });
  }

  remove(hour: StaleHour): void {
    this.#failures.delete(keyOf(hour));
  }

  has(hour: StaleHour): boolean {
    const failure = this.#failures.get(keyOf(hour));
    return failure !== undefined && performance.now() < failure.retryAtMs;
  }
}

function keyOf({ organization, seconds, source }: StaleHour): string {
  return `${organization} ${source} ${seconds}`;
}

async function findStaleHours({ connection, delayMs }: RollupJobOptions, signal: AbortSignal): Promise<StaleHour[]> {
  const parameters = new Map([["delay_nanos", String(BigInt(Math.round(delayMs)) * 1_000_000n)]]);
  const read = { text: staleHours, parameters, settings: {}, signal, timeoutMs: statementTimeoutMs };
  const rows = await answerRows<[string, RollupSource, number, string, number]>(connection, read);
  return rows.map(([organization, source, seconds, touched, days]) => ({
    organization,
    source,
    seconds,
    touched,
    days,
  }));
}

function rollupOf(source: string): Rollup | undefined {
  return rollups.find((each) => each.source === source);
}

async function sumHour(
  hour: StaleHour,
  { connection, settings }: RollupJobOptions,
  signal: AbortSignal,
): Promise<void> {
  const { days, organization, seconds, source, touched } = hour;
  const generation = randomBytes(8).readBigUInt64LE();
  const rollup = rollupOf(source)!;
  const start = BigInt(seconds) * 1_000_000_000n;
  const hourRange = { fromUnixNano: start + 1n, toUnixNano: start + hourNanos };
  await answerText(connection, {
    ...fillRollup(rollup, { organization, hour: hourRange, generation }),
    settings: { ...fillSettings, ...settings },
    signal,
    timeoutMs: statementTimeoutMs,
    // A failed generation is never registered; the next attempt makes another.
    runsOnce: true,
  });
  // Only now: rows of a generation that is not registered are never read.
  const registration = { organization, source, seconds, generation, touched, days };
  const parameters = new Map(Object.entries(registration).map(([name, value]) => [name, String(value)]));
  await answerText(connection, {
    text: registerHour,
    parameters,
    settings,
    signal,
    timeoutMs: statementTimeoutMs,
  });
}
