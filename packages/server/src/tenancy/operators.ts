/** Keeps at least one working operator's key, so that the server can always be administered. */
import { AppError } from "../errors.ts";
import type { Writer } from "./control-database.ts";
import { nowSeconds } from "./row-values.ts";

/**
 * Runs a change that may revoke or expire keys.
 * @throws AppError conflict if no operator's key would be left although one existed
 */
export async function requireRemainingOperator(transaction: Writer, change: () => Promise<void>): Promise<void> {
  const hadOperator = await hasOperator(transaction);
  await change();
  if (hadOperator && !(await hasOperator(transaction))) {
    throw new AppError("conflict", "This would remove the last operator key. Create another one first.");
  }
}

async function hasOperator(transaction: Writer): Promise<boolean> {
  const row = await transaction
    .selectFrom("keys")
    .select("id")
    .where("operator", "=", 1)
    .where("revoked_at", "is", null)
    .where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", nowSeconds())]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
