/** Records when keys were last used, and writes it in batches, so that no request waits for it. */
import type { Logger } from "../logger.ts";
import type { ControlDatabase } from "./control-database.ts";
import { nowSeconds } from "./row-values.ts";

export interface LastUsed {
  note(keyId: string): void;
  /** Writes the recorded uses. */
  close(): Promise<void>;
}

const flushIntervalMs = 10_000;
/** A more recent time of last use is not overwritten. */
const freshSeconds = 30;
/** Well below the maximum number of parameters of a statement. */
const keysPerStatement = 500;

export function createLastUsed(control: ControlDatabase, logger: Logger): LastUsed {
  let noted = new Set<string>();

  async function flush(): Promise<void> {
    if (noted.size === 0) return;
    const keyIds = [...noted];
    noted = new Set();
    const now = nowSeconds();
    try {
      await control.write(async (transaction) => {
        for (let start = 0; start < keyIds.length; start += keysPerStatement) {
          await transaction
            .updateTable("keys")
            .set({ last_used_at: now })
            .where("id", "in", keyIds.slice(start, start + keysPerStatement))
            // Another server may have just written it.
            .where((where) =>
              where.or([where("last_used_at", "is", null), where("last_used_at", "<", now - freshSeconds)]),
            )
            .execute();
        }
      });
    } catch (error) {
      logger.warn({ error, keys: keyIds.length }, "the last-used times of some keys were not saved");
    }
  }

  const timer = setInterval(() => void flush(), flushIntervalMs);
  timer.unref();
  return {
    note: (keyId) => void noted.add(keyId),
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
