/**
 * The sessions of people, in the control database: of browsers, which have a cookie, and of terminals, which have an access token
 * and a refresh token. Only hashes of their secrets are stored.
 * docs/adr/0242-identity-providers-and-scim.md
 */
import { createHmac, randomBytes } from "node:crypto";
import type { Selectable } from "kysely";
import { inputLimit } from "../input-limits.ts";
import type { Reader, Writer } from "../tenancy/control-database.ts";
import { isActiveMembership } from "../tenancy/deactivation.ts";
import { newIdentifier, nowSeconds } from "../tenancy/row-values.ts";
import { hashSecret } from "../tenancy/secret.ts";
import type { ControlTables } from "../tenancy/tables.ts";
import { sealToken } from "./sealed-token.ts";

export type PersonSessionRow = Selectable<ControlTables["person_sessions"]>;

/** The beginnings of the secrets, by which they are told from keys and from each other. */
export const browserPrefix = "p-";
export const accessPrefix = "sk-access-";
export const refreshPrefix = "sk-refresh-";

const daySeconds = 86_400;
/** A session that is not used for so long expires. */
export const personIdleSeconds = 7 * daySeconds;
export const longestSessionSeconds = 30 * daySeconds;
export const accessTokenSeconds = 3600;
/** How long the previous refresh token still works, for two commands that refresh at the same time and for lost answers. */
const refreshGraceSeconds = 60;
const sessionsPerPerson = inputLimit({
  area: "Administration",
  bounds: "Sessions of one person",
  value: 50,
  error: { instead: "the session that was used longest ago ends" },
});
const longestClient = 200;

export interface NewPersonSession {
  readonly personId: string;
  readonly organizationId: string | undefined;
  /** What the person uses: the browser's `User-Agent`, or a terminal's name. */
  readonly client: string;
  readonly address: string | undefined;
  readonly lifetimeSeconds: number;
  /** Absent: the person did not sign in at a provider. */
  readonly at?: SessionAtProvider | undefined;
}

/** The sign-in at a provider that a session depends on. */
export interface SessionAtProvider {
  readonly provider: string;
  readonly subject: string;
  readonly providerSession: string | undefined;
  readonly refreshToken: string | undefined;
}

/** The secrets of a terminal's session. */
export interface TerminalTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** @returns the session's secret, for the cookie, and its identifier */
export async function createBrowserSession(
  transaction: Writer,
  session: NewPersonSession,
): Promise<{ readonly id: string; readonly secret: string }> {
  const secret = newSecret(browserPrefix);
  const id = newIdentifier("sess");
  const refreshToken = session.at?.refreshToken;
  await insertSession(transaction, session, {
    id,
    kind: "browser",
    secret_hash: hashSecret(secret),
    secret_expires_at: nowSeconds() + session.lifetimeSeconds,
    refresh_hash: null,
    provider_token: refreshToken === undefined ? null : sealToken(refreshToken, secret, id),
  });
  return { id, secret };
}

export async function createTerminalSession(transaction: Writer, session: NewPersonSession): Promise<TerminalTokens> {
  const tokens = newTokens();
  const id = newIdentifier("sess");
  await insertSession(transaction, session, { id, kind: "terminal", ...storedTokens(tokens), provider_token: null });
  return tokens;
}

type Secrets = Pick<
  PersonSessionRow,
  "id" | "kind" | "secret_hash" | "secret_expires_at" | "refresh_hash" | "provider_token"
>;

async function insertSession(transaction: Writer, session: NewPersonSession, secrets: Secrets): Promise<void> {
  const { address = null, at, client, lifetimeSeconds, organizationId = null, personId } = session;
  const now = nowSeconds();
  await transaction
    .deleteFrom("person_sessions")
    .where((where) => where.or([where("expires_at", "<=", now), where("last_used_at", "<=", now - personIdleSeconds)]))
    .execute();
  const kept = transaction
    .selectFrom("person_sessions")
    .select("id")
    .where("person_id", "=", personId)
    .orderBy("last_used_at", "desc")
    .orderBy("id", "desc")
    .limit(sessionsPerPerson - 1);
  await transaction
    .deleteFrom("person_sessions")
    .where("person_id", "=", personId)
    .where("id", "not in", kept)
    .execute();
  await transaction
    .insertInto("person_sessions")
    .values({
      ...secrets,
      person_id: personId,
      organization_id: organizationId,
      provider: at?.provider ?? null,
      subject: at?.subject ?? null,
      provider_session: at?.providerSession ?? null,
      previous_refresh_hash: null,
      refresh_salt: null,
      refreshed_at: null,
      checked_at: now,
      client: client.slice(0, longestClient).toWellFormed(),
      address,
      created_at: now,
      expires_at: now + Math.min(lifetimeSeconds, longestSessionSeconds),
      last_used_at: now,
    })
    .execute();
}

/**
 * The organization in which a session begins: that of the person's oldest membership.
 * @param preferred the name of another one, if the person is its member
 */
export async function firstOrganization(
  database: Reader,
  personId: string,
  preferred?: string,
): Promise<string | undefined> {
  const rows = await database
    .selectFrom("memberships")
    .innerJoin("organizations", "organizations.id", "memberships.organization_id")
    .select(["organization_id", "organizations.name"])
    .where("person_id", "=", personId)
    .where("organizations.archived_at", "is", null)
    .where(isActiveMembership())
    .orderBy("memberships.id")
    .execute();
  return (rows.find(({ name }) => name === preferred) ?? rows[0])?.organization_id;
}

/**
 * Exchanges a refresh token for new tokens. For a moment, the same exchange yields the same tokens: for two commands that refresh at
 * the same time, and for a lost answer. After that, a token that was exchanged ends the session, since two have it.
 * @returns undefined if the token is unknown, or its session has ended
 */
export async function refreshTerminalSession(
  transaction: Writer,
  refreshToken: string,
  now = nowSeconds(),
): Promise<TerminalTokens | undefined> {
  const hash = hashSecret(refreshToken);
  const row = await transaction
    .selectFrom("person_sessions")
    .selectAll()
    .where((where) => where.or([where("refresh_hash", "=", hash), where("previous_refresh_hash", "=", hash)]))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const isRepeated = row.refresh_hash !== hash;
  const isLate = isRepeated && now - (row.refreshed_at ?? 0) > refreshGraceSeconds;
  if (isLate || row.expires_at <= now || row.last_used_at <= now - personIdleSeconds) {
    await transaction.deleteFrom("person_sessions").where("id", "=", row.id).execute();
    return undefined;
  }
  if (isRepeated && row.refresh_salt !== null) return nextTokens(refreshToken, row.refresh_salt);
  const salt = randomBytes(32).toString("base64url");
  const tokens = nextTokens(refreshToken, salt);
  await transaction
    .updateTable("person_sessions")
    .set({
      ...storedTokens(tokens, now),
      previous_refresh_hash: hash,
      refresh_salt: salt,
      refreshed_at: now,
      last_used_at: now,
    })
    .where("id", "=", row.id)
    .execute();
  return tokens;
}

function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString("base64url")}`;
}

function newTokens(): TerminalTokens {
  return { accessToken: newSecret(accessPrefix), refreshToken: newSecret(refreshPrefix) };
}

/** Neither the refresh token alone nor the database alone yields them. */
function nextTokens(refreshToken: string, salt: string): TerminalTokens {
  const derive = (prefix: string): string =>
    `${prefix}${createHmac("sha256", refreshToken).update(`${prefix}${salt}`).digest("base64url")}`;
  return { accessToken: derive(accessPrefix), refreshToken: derive(refreshPrefix) };
}

function storedTokens({ accessToken, refreshToken }: TerminalTokens, now = nowSeconds()) {
  return {
    secret_hash: hashSecret(accessToken),
    secret_expires_at: now + accessTokenSeconds,
    refresh_hash: hashSecret(refreshToken),
  };
}

/** Ends the session with this secret, if there is one: of a cookie, an access token or a refresh token. */
export async function endSessionOf(transaction: Writer, secret: string): Promise<void> {
  const hash = hashSecret(secret);
  await transaction
    .deleteFrom("person_sessions")
    .where((where) => where.or([where("secret_hash", "=", hash), where("refresh_hash", "=", hash)]))
    .execute();
}
