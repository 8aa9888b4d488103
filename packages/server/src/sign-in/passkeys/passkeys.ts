/** The passkeys of people, in the control database: only public keys. */
import type { Selectable } from "kysely";
import type { Passkey } from "../../api/passkeys.ts";
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";
import type { Reader, Writer } from "../../tenancy/control-database.ts";
import { newIdentifier, nowSeconds } from "../../tenancy/row-values.ts";
import type { ControlTables } from "../../tenancy/tables.ts";
import type { CreatedPasskey, Signature } from "./ceremonies.ts";

export type PasskeyRow = Selectable<ControlTables["passkeys"]>;

const perPerson = inputLimit({
  area: "Administration",
  bounds: "Passkeys of one person",
  value: 20,
  error: "conflict",
});

export async function hasPasskeys(database: Reader): Promise<boolean> {
  return (await database.selectFrom("passkeys").select("id").limit(1).executeTakeFirst()) !== undefined;
}

export async function passkeysOf(database: Reader, personId: string): Promise<PasskeyRow[]> {
  return await database.selectFrom("passkeys").selectAll().where("person_id", "=", personId).orderBy("id").execute();
}

export async function passkeyOfCredential(database: Reader, credentialId: string): Promise<PasskeyRow | undefined> {
  return await database.selectFrom("passkeys").selectAll().where("credential_id", "=", credentialId).executeTakeFirst();
}

/** @throws AppError not_found, also if it is another person's */
export async function requirePasskey(database: Reader, id: string, personId: string): Promise<PasskeyRow> {
  const row = await database
    .selectFrom("passkeys")
    .selectAll()
    .where("id", "=", id)
    .where("person_id", "=", personId)
    .executeTakeFirst();
  if (row === undefined) throw new AppError("not_found", `You have no passkey ${JSON.stringify(id)}.`);
  return row;
}

/** @throws AppError conflict */
export async function requireRoomForPasskey(database: Reader, personId: string): Promise<void> {
  if ((await passkeysOf(database, personId)).length >= perPerson)
    throw new AppError("conflict", `You have ${perPerson} passkeys, which is the limit. Remove one first.`);
}

export interface NewPasskeyRow extends CreatedPasskey {
  readonly personId: string;
  readonly name: string;
  readonly rpId: string;
  readonly transports: readonly string[];
}

/** @throws AppError conflict if it is known already, or the person has too many */
export async function insertPasskey(transaction: Writer, passkey: NewPasskeyRow): Promise<PasskeyRow> {
  await requireRoomForPasskey(transaction, passkey.personId);
  const row = await transaction
    .insertInto("passkeys")
    .values({
      id: newIdentifier("pkey"),
      person_id: passkey.personId,
      name: passkey.name,
      credential_id: passkey.credentialId,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      transports: JSON.stringify(passkey.transports),
      rp_id: passkey.rpId,
      backed_up: passkey.backedUp ? 1 : 0,
      created_at: nowSeconds(),
      last_used_at: null,
    })
    // Of any person: authenticators choose identifiers at random.
    .onConflict((conflict) => conflict.column("credential_id").doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw new AppError("conflict", "This passkey exists already.", { param: "credential" });
  return row;
}

export async function renamePasskey(transaction: Writer, { id, name }: Pick<PasskeyRow, "id" | "name">): Promise<void> {
  await transaction.updateTable("passkeys").set({ name }).where("id", "=", id).execute();
}

export async function removePasskey(transaction: Writer, id: string): Promise<void> {
  await transaction.deleteFrom("passkeys").where("id", "=", id).execute();
}

/** @returns false if the counter did not grow: two authenticators have the key, and one of them is a copy */
export async function recordUse(transaction: Writer, id: string, { backedUp, counter }: Signature): Promise<boolean> {
  const used = await transaction
    .updateTable("passkeys")
    .set({ counter, backed_up: backedUp ? 1 : 0, last_used_at: nowSeconds() })
    .where("id", "=", id)
    .where(({ and, eb, lit, or }) =>
      or([eb("counter", "<", counter), and([eb("counter", "=", 0), eb(lit(counter === 0 ? 1 : 0), "=", 1)])]),
    )
    .returning("id")
    .executeTakeFirst();
  return used !== undefined;
}

/** What a passkey says about whose it is. */
export function userHandleOf(personId: string): string {
  return Buffer.from(personId).toString("base64url");
}

export function showPasskey(row: PasskeyRow): Passkey {
  return {
    object: "passkey",
    id: row.id,
    name: row.name,
    rp_id: row.rp_id,
    backed_up: row.backed_up === 1,
    created_at: row.created_at,
    last_used_at: row.last_used_at,
  };
}
