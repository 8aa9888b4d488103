/** Links with which people choose a password: invitations, and resets by an operator. Only hashes of their tokens are stored. */
import { randomBytes } from "node:crypto";
import type { Reader, Writer } from "./control-database.ts";
import { nowSeconds } from "./row-values.ts";
import { hashSecret } from "./secret.ts";

export const linkSeconds = 3 * 86_400;

/** @returns the token of a new link, which replaces the person's last one */
export async function createAccountLink(
  transaction: Writer,
  personId: string,
): Promise<{ readonly token: string; readonly expiresAt: number }> {
  const token = randomBytes(32).toString("base64url");
  const now = nowSeconds();
  const expiresAt = now + linkSeconds;
  await transaction
    .deleteFrom("account_links")
    .where(({ eb, or }) => or([eb("person_id", "=", personId), eb("expires_at", "<=", now)]))
    .execute();
  await transaction
    .insertInto("account_links")
    .values({ person_id: personId, token_hash: hashSecret(token), expires_at: expiresAt })
    .execute();
  return { token, expiresAt };
}

/** The person for whom the link is, if it has not expired. */
export async function personOfLink(database: Reader, token: string, now = nowSeconds()): Promise<string | undefined> {
  const row = await database
    .selectFrom("account_links")
    .select("person_id")
    .where("token_hash", "=", hashSecret(token))
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row?.person_id;
}

/** Deleting its row is what lets a link work once. */
export async function takeAccountLink(transaction: Writer, token: string): Promise<string | undefined> {
  const row = await transaction
    .deleteFrom("account_links")
    .where("token_hash", "=", hashSecret(token))
    .returning(["person_id", "expires_at"])
    .executeTakeFirst();
  return row === undefined || row.expires_at <= nowSeconds() ? undefined : row.person_id;
}
