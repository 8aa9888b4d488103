/** Finds and checks the session of a person for a cookie or an access token, with a cache, since every request needs it. */
import type { Logger } from "../logger.ts";
import type { PersonSession, SessionLimits } from "../session.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { createLastUsed } from "../tenancy/last-used.ts";
import { loadPerson, type KnownPerson } from "../tenancy/load-person.ts";
import { createRevalidatingCache } from "../tenancy/revalidating-cache.ts";
import { equalHashes, hashSecret, maximumSecretLength } from "../tenancy/secret.ts";
import { idleText, sessionEnded, useIsNotedEveryMs } from "../tenancy/session-check.ts";
import { personIdleSeconds, type PersonSessionRow } from "./person-sessions.ts";

export interface PersonSessionCheck {
  /**
   * The session with this secret, undefined if there is none; synchronous on a cache hit.
   * @throws AppError invalid_session if it has ended; overloaded while the database is unreachable and it is not cached
   */
  check(secret: string): PersonSession | undefined | Promise<PersonSession | undefined>;
  clear(): void;
  /** Writes when sessions and people were last active. Call it before the database is closed. */
  close(): Promise<void>;
}

export interface PersonSessionCheckOptions {
  readonly control: ControlDatabase;
  readonly logger: Logger;
  readonly limits: () => SessionLimits;
  /** UNIX milliseconds. */
  readonly now: () => number;
  /** Called when a valid session is used. */
  readonly onUse: (session: PersonSessionRow, secret: string) => void;
}

interface KnownSession {
  readonly row: PersonSessionRow;
  readonly session: PersonSession;
  readonly refusal: string | undefined;
  /** UNIX milliseconds of the last use that was noted. */
  usedMs: number;
}

const cacheIdLength = 16;

export function createPersonSessionCheck({
  control,
  limits,
  logger,
  now,
  onUse,
}: PersonSessionCheckOptions): PersonSessionCheck {
  const sessionsUsed = createLastUsed(control, logger, "person_sessions");
  const peopleUsed = createLastUsed(control, logger, "people");
  const known = createRevalidatingCache<string, KnownSession>({
    load: (hash) => loadSession(control, hash, limits()),
    now,
  });
  control.onChange(() => known.clear());

  function admit(found: KnownSession | undefined, hash: string, secret: string): PersonSession | undefined {
    if (found === undefined || !equalHashes(found.row.secret_hash, hash)) return undefined;
    const { refusal, row, session } = found;
    const time = now();
    if (time >= Math.min(session.expiresAt, row.secret_expires_at) * 1000) throw sessionEnded("It has expired.");
    const idleSeconds = row.kind === "browser" ? limits().idleSeconds : personIdleSeconds;
    if (time - found.usedMs >= idleSeconds * 1000) throw sessionEnded(idleText(idleSeconds));
    if (refusal !== undefined) throw sessionEnded(refusal);
    if (time - found.usedMs >= useIsNotedEveryMs) {
      found.usedMs = time;
      sessionsUsed.note(row.id);
      peopleUsed.note(row.person_id);
    }
    onUse(row, secret);
    return session;
  }

  return {
    check(secret) {
      if (secret.length > maximumSecretLength) return undefined;
      const hash = hashSecret(secret);
      const found = known.get(hash.slice(0, cacheIdLength), hash);
      return found instanceof Promise
        ? found.then((loaded) => admit(loaded, hash, secret))
        : admit(found, hash, secret);
    },
    clear: () => known.clear(),
    async close() {
      await Promise.all([sessionsUsed.close(), peopleUsed.close()]);
    },
  };
}

function loadSession(
  control: ControlDatabase,
  hash: string,
  { longestSeconds }: SessionLimits,
): Promise<KnownSession | undefined> {
  return control.read(async (database) => {
    const row = await database
      .selectFrom("person_sessions")
      .selectAll()
      .where("secret_hash", "=", hash)
      .executeTakeFirst();
    const known = row === undefined ? undefined : await loadPerson(database, row.person_id);
    if (row === undefined || known === undefined) return undefined;
    return {
      row,
      session: {
        sessionId: row.id,
        person: known.person,
        organizationId: row.organization_id ?? undefined,
        provider: row.provider ?? undefined,
        expiresAt: row.kind === "browser" ? Math.min(row.expires_at, row.created_at + longestSeconds) : row.expires_at,
      },
      refusal: refusalOf(known),
      usedMs: row.last_used_at * 1000,
    };
  });
}

function refusalOf({ person, refusal }: KnownPerson): string | undefined {
  if (refusal !== undefined || person.memberships.length > 0) return refusal;
  return `${person.name} is no longer a member of any organization.`;
}
