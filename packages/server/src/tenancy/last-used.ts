/** Notes when keys were last used, and writes it down now and then, so that no request waits for it. */
import type { Logger } from "../logger.ts";
import type { ControlDatabase } from "./control-database.ts";
import { nowSeconds } from "./row-values.ts";

export interface LastUsed {
  note(keyId: string): void;
  /** Writes down what was noted. */
  close(): Promise<void>;
}

const flushIntervalMs = 10_000;
/** A time of last use that is no older than this is good enough. */
const freshSeconds = 30;
/** Well under the number of parameters that a statement may have. */
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
            // Another server may just have done so.
            .where((where) =>
              where.or([where("last_used_at", "is", null), where("last_used_at", "<", now - freshSeconds)]),
            )
            .execute();
        }
      });
    } catch (error) {
      logger.warn({ error, keys: keyIds.length }, "the times of last use of some keys were not written down");
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
