/** Senders that behave like exporters: concurrent, each retrying its batch until it is accepted. */
import { setTimeout as sleep } from "node:timers/promises";
import { AppError, retryAfterMs } from "../../src/errors.ts";
import type { Store } from "../../src/store/store.ts";
import { numberedSpans, spanBatch } from "./test-store.ts";

export const batchRows = 50;
/** Some 500 batches, which keeps the list of acknowledged rows short. */
const longestJournalBytes = 4_000_000;

export interface LoadOptions {
  readonly store: Store;
  readonly organizationId: string;
  /** Prefix of the batches' names, so that they differ between runs. */
  readonly prefix: string;
  readonly senders: number;
  readonly signal: AbortSignal;
  onAcknowledged(batch: string): void;
  onRefused?(error: AppError): void;
}

/** Resolves when the signal has fired and every sender has its last answer. @throws any error other than a refusal by the store */
export async function sendLoad(options: LoadOptions): Promise<void> {
  const { store, organizationId, prefix, senders, signal } = options;
  const sendOne = async (name: string): Promise<void> => {
    const batch = spanBatch(organizationId, numberedSpans(name, batchRows));
    while (!signal.aborted) {
      try {
        await store.append(batch);
        options.onAcknowledged(name);
        return;
      } catch (error) {
        if (!(error instanceof AppError) || retryAfterMs(error) === undefined) throw error;
        options.onRefused?.(error);
        await sleep(20);
      }
    }
  };
  const send = async (sender: number): Promise<void> => {
    for (let index = 0; !signal.aborted; index += 1) {
      await sendOne(`${prefix}.${sender}.${index}`);
      // The journal takes rows as fast as they come, also while the engine is down.
      while (store.journalBytes() > longestJournalBytes && !signal.aborted) await sleep(20);
    }
  };
  await Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
}

/** Errors in the answers: rows of acknowledged batches that are missing or duplicated. */
export function findFaults(acknowledged: readonly string[], counts: ReadonlyMap<string, number>): string[] {
  const lost = acknowledged
    .flatMap((name) => numberedSpans(name, batchRows))
    .filter(({ spanId }) => !counts.has(spanId))
    .map(({ spanId }) => `${spanId} is lost`);
  const double = [...counts]
    .filter(([, times]) => times !== 1)
    .map(([spanId, times]) => `${spanId} is there ${times} times`);
  return [...lost, ...double];
}
