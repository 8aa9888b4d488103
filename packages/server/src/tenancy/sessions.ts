/**
 * Sessions of the web console and the single-use codes that open them, in the control database. Only hashes of their
 * secrets are stored.
 * docs/adr/0005-tenancy-and-sessions.md
 */
import { randomBytes } from "node:crypto";
import { inputLimit } from "../input-limits.ts";
import { keyActor } from "./audit/actor.ts";
import { describeAct } from "./audit/current-act.ts";
import type { ControlDatabase, Writer } from "./control-database.ts";
import { newIdentifier, nowSeconds } from "./row-values.ts";
import { hashSecret } from "./secret.ts";

/** The keys of a session, which end it when they are revoked or expire. */
export interface SessionKeys {
  readonly keyId: string;
  /** Another key, for the admin API. */
  readonly operatorKeyId: string | undefined;
}

const daySeconds = 86_400;
export const sessionLifetimeSeconds = 30 * daySeconds;
/** A session that is not used for so long expires. */
export const sessionIdleSeconds = 7 * daySeconds;
const codeLifetimeSeconds = 300;
const sessionsPerKey = inputLimit({
  area: "Administration",
  bounds: "Sessions of one key",
  value: 50,
  error: { instead: "the oldest session ends" },
});
const codesPerKey = inputLimit({
  area: "Administration",
  bounds: "Unused sign-in codes of one key",
  value: 20,
  error: { instead: "the oldest code expires" },
});

/** @returns the session's secret, for the cookie */
export async function createSession(control: ControlDatabase, keys: SessionKeys): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  const id = newIdentifier("sess");
  const now = nowSeconds();
  await control.writeAct(async (transaction) => {
    await transaction
      .deleteFrom("sessions")
      .where((where) =>
        where.or([where("expires_at", "<=", now), where("last_used_at", "<=", now - sessionIdleSeconds)]),
      )
      .execute();
    await endOldestSessions(transaction, keys.keyId);
    await transaction
      .insertInto("sessions")
      .values({
        id,
        secret_hash: hashSecret(secret),
        key_id: keys.keyId,
        operator_key_id: keys.operatorKeyId ?? null,
        created_at: now,
        expires_at: now + sessionLifetimeSeconds,
        last_used_at: now,
      })
      .execute();
    describeAct({ actor: await keyActor(transaction, keys.keyId), object: { kind: "session", id, name: null } });
  });
  return secret;
}

async function endOldestSessions(transaction: Writer, keyId: string): Promise<void> {
  const newest = transaction
    .selectFrom("sessions")
    .select("id")
    .where("key_id", "=", keyId)
    .orderBy("id", "desc")
    .limit(sessionsPerKey - 1);
  await transaction.deleteFrom("sessions").where("key_id", "=", keyId).where("id", "not in", newest).execute();
}

/** Ends the session with this secret, if there is one. */
export async function endSession(control: ControlDatabase, secret: string): Promise<void> {
  // A change, so that the other processes of the server forget the session at once.
  await control.change((transaction) =>
    transaction.deleteFrom("sessions").where("secret_hash", "=", hashSecret(secret)).execute(),
  );
}

export interface SignInCode {
  readonly code: string;
  /** UNIX seconds. */
  readonly expiresAt: number;
}

export async function createSignInCode(control: ControlDatabase, keys: SessionKeys): Promise<SignInCode> {
  const code = randomBytes(16).toString("base64url");
  const now = nowSeconds();
  const expiresAt = now + codeLifetimeSeconds;
  await control.writeAct(async (transaction) => {
    await transaction.deleteFrom("sign_in_codes").where("expires_at", "<=", now).execute();
    const newest = transaction
      .selectFrom("sign_in_codes")
      .select("code_hash")
      .where("key_id", "=", keys.keyId)
      .orderBy("expires_at", "desc")
      .orderBy("code_hash")
      .limit(codesPerKey - 1);
    await transaction
      .deleteFrom("sign_in_codes")
      .where("key_id", "=", keys.keyId)
      .where("code_hash", "not in", newest)
      .execute();
    await transaction
      .insertInto("sign_in_codes")
      .values({
        code_hash: hashSecret(code),
        key_id: keys.keyId,
        operator_key_id: keys.operatorKeyId ?? null,
        expires_at: expiresAt,
      })
      .execute();
  });
  return { code, expiresAt };
}

/**
 * Uses up a code. Deleting its row is what makes it single-use, also when several servers receive it at once.
 * @returns undefined if the code is unknown, was used, or has expired
 */
export async function redeemSignInCode(
  control: ControlDatabase,
  code: string,
  now = nowSeconds(),
): Promise<SessionKeys | undefined> {
  const hash = hashSecret(code);
  // Anyone can send codes: only those that exist take a lock for writing.
  const exists = await control.read((database) =>
    database.selectFrom("sign_in_codes").select("code_hash").where("code_hash", "=", hash).executeTakeFirst(),
  );
  if (exists === undefined) return undefined;
  const row = await control.write((transaction) =>
    transaction
      .deleteFrom("sign_in_codes")
      .where("code_hash", "=", hash)
      .returning(["key_id", "operator_key_id", "expires_at"])
      .executeTakeFirst(),
  );
  if (row === undefined || row.expires_at <= now) return undefined;
  return { keyId: row.key_id, operatorKeyId: row.operator_key_id ?? undefined };
}
