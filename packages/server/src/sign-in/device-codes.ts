/**
 * The codes of terminals that want to sign in, in the control database, since the terminal and the person may reach different
 * servers. Only the hash of the secret code is stored.
 * https://www.rfc-editor.org/rfc/rfc8628
 */
import { randomBytes, randomInt } from "node:crypto";
import type { Selectable } from "kysely";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { Reader, Writer } from "../tenancy/control-database.ts";
import { nowSeconds } from "../tenancy/row-values.ts";
import { hashSecret } from "../tenancy/secret.ts";
import type { ControlTables } from "../tenancy/tables.ts";

export type DeviceCodeRow = Selectable<ControlTables["device_codes"]>;

export const deviceCodeSeconds = 600;
const longestClient = 100;
const pendingPerAddress = inputLimit({
  area: "Administration",
  bounds: "Terminals of one client address that wait to be signed in",
  value: 10,
  error: { instead: "the oldest code expires" },
});
const pendingInTotal = inputLimit({
  area: "Administration",
  bounds: "Terminals that wait to be signed in",
  value: 5_000,
  error: "overloaded",
});

/** Consonants that nobody confuses, and no vowels, so that no code is a word (RFC 8628, section 6.1). */
const alphabet = "BCDFGHJKLMNPQRSTVWXZ";
const userCodeLength = 8;

export interface NewDeviceCode {
  readonly client: string;
  readonly address: string | undefined;
  /** The address, or the network that counts as one. */
  readonly network: string;
}

export interface DeviceCodes {
  readonly deviceCode: string;
  readonly userCode: string;
}

/** @throws AppError overloaded if too many terminals wait */
export async function createDeviceCode(
  transaction: Writer,
  { address, client, network }: NewDeviceCode,
): Promise<DeviceCodes> {
  const now = nowSeconds();
  await transaction.deleteFrom("device_codes").where("expires_at", "<=", now).execute();
  const kept = transaction
    .selectFrom("device_codes")
    .select("device_hash")
    .where("network", "=", network)
    .orderBy("created_at", "desc")
    .orderBy("device_hash")
    .limit(pendingPerAddress - 1);
  await transaction
    .deleteFrom("device_codes")
    .where("network", "=", network)
    .where("device_hash", "not in", kept)
    .execute();
  const { count } = await transaction
    .selectFrom("device_codes")
    .select(({ fn }) => fn.countAll<number | string>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) >= pendingInTotal)
    throw new AppError("overloaded", "Too many terminals wait to be signed in. Retry later.", { retryAfterMs: 60_000 });
  const deviceCode = randomBytes(32).toString("base64url");
  const userCode = newUserCode();
  await transaction
    .insertInto("device_codes")
    .values({
      device_hash: hashSecret(deviceCode),
      user_code: userCode,
      client: client.slice(0, longestClient).toWellFormed(),
      address: address ?? null,
      network,
      status: "pending",
      person_id: null,
      organization_id: null,
      approved_by: null,
      created_at: now,
      expires_at: now + deviceCodeSeconds,
    })
    .execute();
  return { deviceCode, userCode: showUserCode(userCode) };
}

function newUserCode(): string {
  return Array.from({ length: userCodeLength }, () => alphabet[randomInt(alphabet.length)]).join("");
}

export function showUserCode(code: string): string {
  return `${code.slice(0, userCodeLength / 2)}-${code.slice(userCodeLength / 2)}`;
}

/** The code as it is stored, from what a person types: in any case, with any separators. */
export function readUserCode(text: string): string {
  return text
    .slice(0, 100)
    .toUpperCase()
    .replaceAll(/[^A-Z]/g, "");
}

/** The terminal with this code, which has not expired. @throws AppError not_found */
export async function findByUserCode(database: Reader, userCode: string): Promise<DeviceCodeRow> {
  const row = await database
    .selectFrom("device_codes")
    .selectAll()
    .where("user_code", "=", userCode)
    .where("expires_at", ">", nowSeconds())
    .executeTakeFirst();
  if (row !== undefined) return row;
  throw new AppError(
    "not_found",
    "No terminal shows this code, or the code has expired. Check it, or run the command again.",
    { param: "user_code" },
  );
}

export interface Decision {
  readonly personId: string;
  readonly organizationId: string | undefined;
  readonly sessionId: string;
  readonly isApproved: boolean;
}

/** @throws AppError not_found, or conflict if it was decided already */
export async function decideDeviceCode(
  transaction: Writer,
  userCode: string,
  { isApproved, organizationId, personId, sessionId }: Decision,
): Promise<DeviceCodeRow> {
  const row = await findByUserCode(transaction, userCode);
  if (row.status !== "pending")
    throw new AppError("conflict", `This terminal was ${row.status} already.`, { param: "user_code" });
  const values = {
    status: isApproved ? ("approved" as const) : ("denied" as const),
    person_id: personId,
    organization_id: organizationId ?? null,
    approved_by: sessionId,
  };
  await transaction
    .updateTable("device_codes")
    .set(values)
    .where("device_hash", "=", row.device_hash)
    .where("status", "=", "pending")
    .execute();
  return { ...row, ...values };
}

/** What became of the terminal with this secret code; a decided one is used up, by the first of two that ask at the same time. */
export async function takeDeviceCode(transaction: Writer, deviceCode: string): Promise<DeviceCodeRow | undefined> {
  const hash = hashSecret(deviceCode);
  const decided = await transaction
    .deleteFrom("device_codes")
    .where("device_hash", "=", hash)
    .where("expires_at", ">", nowSeconds())
    .where("status", "!=", "pending")
    .returningAll()
    .executeTakeFirst();
  if (decided !== undefined) return decided;
  return await transaction
    .selectFrom("device_codes")
    .selectAll()
    .where("device_hash", "=", hash)
    .where("expires_at", ">", nowSeconds())
    .where("status", "=", "pending")
    .executeTakeFirst();
}
