/** Records when keys and sessions were last used, and writes it in batches, so that no request waits for it. */
import type { Logger } from "../logger.ts";
import type { ControlDatabase } from "./control-database.ts";
import { nowSeconds } from "./row-values.ts";

export interface LastUsed {
  note(id: string): void;
  /** Writes the recorded uses. */
  close(): Promise<void>;
}

const flushIntervalMs = 10_000;
/** A more recent time of last use is not overwritten. */
const freshSeconds = 10;
/** Well below the maximum number of parameters of a statement. */
const rowsPerStatement = 500;

export function createLastUsed(
  control: ControlDatabase,
  logger: Logger,
  table: "keys" | "sessions" | "people" | "person_sessions" = "keys",
): LastUsed {
  let noted = new Set<string>();

  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const ids = [...noted];
    noted = new Set();
    const now = nowSeconds();
    try {
      await control.write(async (transaction) => {
        for (let start = 0; start < ids.length; start += rowsPerStatement) {
          await transaction
            .updateTable(table)
            .set({ last_used_at: now })
            .where("id", "in", ids.slice(start, start + rowsPerStatement))
            // Another server may have just written it.
            .where((where) =>
              where.or([where("last_used_at", "is", null), where("last_used_at", "<", now - freshSeconds)]),
            )
            .execute();
        }
      });
    } catch (error) {
      logger.warn({ error, table, rows: ids.length }, "some last-used times were not saved");
    }
  }

  const timer = setInterval(() => void flush(), flushIntervalMs);
  timer.unref();
  return {
    note: (id) => void noted.add(id),
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
