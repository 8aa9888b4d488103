/** Local accounts in the control database: the password and the second factor of a person. */
import { randomInt } from "node:crypto";
import type { Selectable } from "kysely";
import type { Reader, Writer } from "../tenancy/control-database.ts";
import { findPerson, type PersonRow } from "../tenancy/people.ts";
import { nowSeconds } from "../tenancy/row-values.ts";
import { hashSecret } from "../tenancy/secret.ts";
import type { ControlTables } from "../tenancy/tables.ts";
import { stepOfCode } from "./totp.ts";

export type AccountRow = Selectable<ControlTables["accounts"]>;

const recoveryCodes = 10;
/** 118 bits, so that hashes without a salt are enough. */
const recoveryCodeLength = 24;
/** Without characters that look alike. */
const recoveryAlphabet = "23456789abcdefghjkmnpqrstuvwxyz";

export interface KnownAccount {
  readonly person: PersonRow;
  readonly account: AccountRow;
}

export async function findAccount(
  database: Reader,
  by: { readonly id: string } | { readonly email: string },
): Promise<KnownAccount | undefined> {
  const person = await findPerson(database, by);
  if (person === undefined) return undefined;
  const account = await database
    .selectFrom("accounts")
    .selectAll()
    .where("person_id", "=", person.id)
    .executeTakeFirst();
  return account && { person, account };
}

export async function hasAccounts(database: Reader): Promise<boolean> {
  return (await database.selectFrom("accounts").select("person_id").limit(1).executeTakeFirst()) !== undefined;
}

/** Gives a person a password. An account that exists is replaced: its second factor and its passkeys are removed. */
export async function replaceAccount(transaction: Writer, personId: string, passwordHash: string): Promise<void> {
  await removeSecondFactor(transaction, personId);
  await transaction.deleteFrom("passkeys").where("person_id", "=", personId).execute();
  const values = { password_hash: passwordHash, updated_at: nowSeconds() };
  await transaction
    .insertInto("accounts")
    .values({ ...values, person_id: personId, totp_secret: null, totp_step: null, created_at: values.updated_at })
    .onConflict((conflict) => conflict.column("person_id").doUpdateSet(values))
    .execute();
}

export async function updateAccount(
  transaction: Writer,
  personId: string,
  values: Partial<Pick<AccountRow, "password_hash" | "totp_secret" | "totp_step">>,
): Promise<void> {
  await transaction
    .updateTable("accounts")
    .set({ ...values, updated_at: nowSeconds() })
    .where("person_id", "=", personId)
    .execute();
}

export async function removeSecondFactor(transaction: Writer, personId: string): Promise<void> {
  await transaction.deleteFrom("recovery_codes").where("person_id", "=", personId).execute();
  await updateAccount(transaction, personId, { totp_secret: null, totp_step: null });
}

/** @returns new recovery codes, in place of those before, which are shown once */
export async function replaceRecoveryCodes(transaction: Writer, personId: string): Promise<readonly string[]> {
  await transaction.deleteFrom("recovery_codes").where("person_id", "=", personId).execute();
  const codes = Array.from({ length: recoveryCodes }, newRecoveryCode);
  await transaction
    .insertInto("recovery_codes")
    .values(codes.map((code) => ({ person_id: personId, code_hash: hashSecret(normalCode(code)) })))
    .execute();
  return codes;
}

export async function countRecoveryCodes(database: Reader, personId: string): Promise<number> {
  const rows = await database
    .selectFrom("recovery_codes")
    .select("code_hash")
    .where("person_id", "=", personId)
    .execute();
  return rows.length;
}

/**
 * Uses a one-time code or a recovery code up.
 * @param secret of the one-time codes
 * @returns whether it is valid and was not used before
 */
export async function useCode(
  transaction: Writer,
  { person_id: personId, totp_step: usedStep }: AccountRow,
  { code, now, secret }: { readonly code: string; readonly secret: string; readonly now: number },
): Promise<boolean> {
  const step = stepOfCode(secret, code.replaceAll(/\s/g, ""), { after: usedStep ?? -1, nowSeconds: now });
  if (step === undefined) {
    const used = await transaction
      .deleteFrom("recovery_codes")
      .where("person_id", "=", personId)
      .where("code_hash", "=", hashSecret(normalCode(code)))
      .returning("person_id")
      .executeTakeFirst();
    return used !== undefined;
  }
  // Of two requests with the same code, the first one uses it.
  const used = await transaction
    .updateTable("accounts")
    .set({ totp_step: step })
    .where("person_id", "=", personId)
    .where(({ eb, or }) => or([eb("totp_step", "is", null), eb("totp_step", "<", step)]))
    .returning("person_id")
    .executeTakeFirst();
  return used !== undefined;
}

function newRecoveryCode(): string {
  const text = Array.from({ length: recoveryCodeLength }, () => recoveryAlphabet[randomInt(recoveryAlphabet.length)]);
  return text.join("").replaceAll(/.{4}(?=.)/g, "$&-");
}

function normalCode(code: string): string {
  return code.toLowerCase().replaceAll(/[\s-]/g, "");
}
