/** Brings the rows of the journal into the store, so that a copy of the store has every row that was acknowledged before. */
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { adoptJournals, allSegmentNames } from "../journal/adopt-journals.ts";
import { openStore } from "../open-store.ts";
import type { AccessOptions } from "./store-access.ts";

/** How long the journal may make no progress. */
const patienceMs = 120_000;
const pauseMs = 50;

/**
 * Resolves when the store has every row that was acknowledged before the call. While a server runs, it inserts them within about a
 * second; otherwise this process does, before it opens the store.
 * @throws AppError overloaded if the store does not take them
 */
export async function drainJournal(options: AccessOptions, logger: Logger): Promise<void> {
  const { dataDirectory, isServed, settings, signal } = options;
  if ((await allSegmentNames(dataDirectory)).length === 0) return;
  if (isServed) return await untilInserted(dataDirectory, signal);
  await adoptJournals(dataDirectory, [""]);
  const store = await openStore({ settings: { ...settings, rollups: false }, dataDirectory, logger });
  try {
    await untilInserted(dataDirectory, signal, () => store.state().reason);
  } finally {
    await store.close();
  }
}

/** Segments are removed once their rows are in the store. */
async function untilInserted(
  dataDirectory: string,
  signal: AbortSignal,
  reason: () => string | undefined = () => undefined,
): Promise<void> {
  const first = new Set(await allSegmentNames(dataDirectory));
  let left = first.size;
  let endMs = performance.now() + patienceMs;
  while (left > 0) {
    signal.throwIfAborted();
    if (performance.now() > endMs) {
      throw new AppError(
        "overloaded",
        `The telemetry store does not take the rows of the journal in ${dataDirectory}/telemetry/journal (${left} files are left). ${reason() ?? "See the log of the server."}`,
      );
    }
    await delay(pauseMs);
    const now = (await allSegmentNames(dataDirectory)).filter((name) => first.has(name)).length;
    if (now < left) endMs = performance.now() + patienceMs;
    left = now;
  }
}
