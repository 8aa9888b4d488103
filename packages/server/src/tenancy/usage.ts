/** The ledger of tokens per key and month, for monthly budgets. */
import { AppError } from "../errors.ts";
import type { UsageEntry, UsageLedger } from "../limits/monthly-usage.ts";
import type { ControlDatabase } from "./control-database.ts";

/** Well below the maximum number of parameters of a statement. */
const rowsPerStatement = 200;

/** The ledger in the control database. Servers that share the database share the totals. */
export function createUsageLedger(control: ControlDatabase): UsageLedger {
  return {
    async add(entries) {
      const rows = sumByKey(entries);
      if (rows.length === 0) return;
      await control.write(async (transaction) => {
        for (let start = 0; start < rows.length; start += rowsPerStatement) {
          await transaction
            .insertInto("token_usage")
            .values(rows.slice(start, start + rowsPerStatement))
            .onConflict((conflict) =>
              conflict.columns(["month", "organization_id", "key_id"]).doUpdateSet((expression) => ({
                tokens: expression("token_usage.tokens", "+", expression.ref("excluded.tokens")),
              })),
            )
            .execute();
        }
      });
    },
    read: (month) =>
      control.read((database) =>
        database
          .selectFrom("token_usage")
          .select(["organization_id as organizationId", "key_id as keyId", "month", "tokens"])
          .where("month", "=", month)
          .execute(),
      ),
  };
}

interface UsageRow {
  readonly month: string;
  readonly organization_id: string;
  readonly key_id: string;
  readonly tokens: number;
}

/** One row per key and month, since an upsert may touch a row only once; sorted, so that servers cannot deadlock. */
function sumByKey(entries: readonly UsageEntry[]): UsageRow[] {
  const rows = new Map<string, UsageRow>();
  for (const { month, organizationId, keyId, tokens } of entries) {
    if (!Number.isSafeInteger(tokens) || tokens < 0 || !/^\d{4}-\d{2}$/.test(month)) {
      throw new AppError("internal", `Token usage of ${tokens} in the month ${JSON.stringify(month)} is invalid.`);
    }
    if (tokens === 0) continue;
    const id = `${month} ${organizationId} ${keyId}`;
    const before = rows.get(id)?.tokens ?? 0;
    rows.set(id, { month, organization_id: organizationId, key_id: keyId, tokens: before + tokens });
  }
  return [...rows.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row);
}
