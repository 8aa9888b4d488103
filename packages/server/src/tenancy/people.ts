/** People in the control database: who they are, and whether they may sign in. Callers check permissions. */
import type { Selectable } from "kysely";
import { AppError } from "../errors.ts";
import type { Reader, Writer } from "./control-database.ts";
import { rejectConflict } from "./database-error.ts";
import { newIdentifier, nowSeconds } from "./row-values.ts";
import type { ControlTables } from "./tables.ts";

export type PersonRow = Selectable<ControlTables["people"]>;

export interface NewPerson {
  readonly email: string;
  /** Absent: the part of the address before the `@`. */
  readonly name?: string | undefined;
  readonly operator?: boolean | undefined;
}

/** Addresses differ in case only by mistake. */
export function normalEmail(email: string): string {
  return email.normalize("NFC").toLowerCase();
}

export async function findPerson(
  database: Reader,
  by: { readonly id: string } | { readonly email: string },
): Promise<PersonRow | undefined> {
  const query = database.selectFrom("people").selectAll();
  const found = "id" in by ? query.where("id", "=", by.id) : query.where("email", "=", normalEmail(by.email));
  return found.executeTakeFirst();
}

/** @throws AppError not_found */
export async function requirePerson(database: Reader, id: string): Promise<PersonRow> {
  const row = await findPerson(database, { id });
  if (row === undefined) throw new AppError("not_found", personNotFound(id));
  return row;
}

export function personNotFound(id: string): string {
  return `The person ${JSON.stringify(id)} does not exist.`;
}

/** @throws AppError conflict if another person has the address */
export async function insertPerson(transaction: Writer, input: NewPerson): Promise<PersonRow> {
  const email = normalEmail(input.email);
  const row: PersonRow = {
    id: newIdentifier("pers"),
    email,
    name: input.name ?? email.slice(0, email.lastIndexOf("@")),
    operator: input.operator === true ? 1 : 0,
    created_at: nowSeconds(),
    disabled_at: null,
    last_used_at: null,
  };
  await rejectEmailConflict(email, () => transaction.insertInto("people").values(row).execute());
  return row;
}

/** Revokes the personal keys, in one organization or in all. */
export async function revokePersonalKeys(
  transaction: Writer,
  personId: string,
  organizationId?: string,
): Promise<void> {
  let update = transaction
    .updateTable("keys")
    .set({ revoked_at: nowSeconds() })
    .where("person_id", "=", personId)
    .where("revoked_at", "is", null);
  if (organizationId !== undefined) update = update.where("organization_id", "=", organizationId);
  await update.execute();
}

export function rejectEmailConflict(email: string, run: () => Promise<unknown>): Promise<void> {
  return rejectConflict(run, "email", `email is ${JSON.stringify(email)}; another person has this address.`);
}
