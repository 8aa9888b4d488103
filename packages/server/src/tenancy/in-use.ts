/** What is archived cannot be changed, nor get anything new. */
import { AppError } from "../errors.ts";
import type { Reader } from "./control-database.ts";

/** @throws AppError conflict when it is archived */
export function requireInUse(row: { readonly id: string; readonly archived_at: number | null }): void {
  if (row.archived_at !== null) {
    throw new AppError("conflict", `${row.id} is archived and can be neither changed nor used any more.`);
  }
}

/** @throws AppError not_found, or conflict when it is archived */
export async function requireOrganizationInUse(database: Reader, id: string): Promise<void> {
  const row = await database
    .selectFrom("organizations")
    .select(["id", "archived_at"])
    .where("id", "=", id)
    .executeTakeFirst();
  if (row === undefined) {
    throw new AppError("not_found", `There is no organization ${JSON.stringify(id)}.`, { param: "organization_id" });
  }
  requireInUse(row);
}
