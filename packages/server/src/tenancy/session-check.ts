/** Finds and checks the session for a cookie, with a cache like that of keys, since every request of the console needs it. */
import { AppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { KeySession, SessionLimits } from "../session.ts";
import type { ControlDatabase } from "./control-database.ts";
import { createLastUsed } from "./last-used.ts";
import { loadKey, refusalOf, type KnownKey } from "./load-key.ts";
import { createRevalidatingCache } from "./revalidating-cache.ts";
import { equalHashes, hashSecret, maximumSecretLength } from "./secret.ts";

export interface SessionCheck {
  /**
   * The session with this secret, undefined if there is none; synchronous on a cache hit.
   * @throws AppError invalid_session if it has ended; overloaded while the database is unreachable and it is not cached
   */
  check(secret: string): KeySession | undefined | Promise<KeySession | undefined>;
  /** Forgets cached sessions, after one was ended. */
  clear(): void;
  /** Writes when sessions and their keys were last used. Call it before the database is closed. */
  close(): Promise<void>;
}

export interface SessionCheckOptions {
  readonly control: ControlDatabase;
  readonly logger: Logger;
  readonly limits: () => SessionLimits;
  /** UNIX milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** The cache answers in between: the time of the last use is this exact. */
export const useIsNotedEveryMs = 15_000;
const cacheIdLength = 16;

interface KnownSession {
  readonly hash: string;
  readonly session: KeySession;
  readonly keys: readonly KnownKey[];
  readonly expiresMs: number;
  /** UNIX milliseconds of the last use that was noted. */
  usedMs: number;
}

export function createSessionCheck({ control, limits, logger, now = Date.now }: SessionCheckOptions): SessionCheck {
  const sessionsUsed = createLastUsed(control, logger, "sessions");
  const keysUsed = createLastUsed(control, logger);
  const known = createRevalidatingCache<string, KnownSession>({
    load: (hash) => loadSession(control, hash, limits()),
    now,
  });
  control.onChange(() => known.clear());

  function admit(found: KnownSession | undefined, hash: string): KeySession | undefined {
    if (found === undefined || !equalHashes(found.hash, hash)) return undefined;
    const time = now();
    if (time >= found.expiresMs) throw sessionEnded("It has expired.");
    const { idleSeconds } = limits();
    if (time - found.usedMs >= idleSeconds * 1000) throw sessionEnded(idleText(idleSeconds));
    for (const key of found.keys) {
      const refusal = refusalOf(key, time);
      if (refusal !== undefined) throw sessionEnded(refusal);
    }
    if (time - found.usedMs >= useIsNotedEveryMs) {
      found.usedMs = time;
      sessionsUsed.note(found.session.sessionId);
      for (const { key } of found.keys) keysUsed.note(key.keyId);
    }
    return found.session;
  }

  return {
    check(secret) {
      if (secret.length > maximumSecretLength) return undefined;
      const hash = hashSecret(secret);
      const found = known.get(hash.slice(0, cacheIdLength), hash);
      return found instanceof Promise ? found.then((loaded) => admit(loaded, hash)) : admit(found, hash);
    },
    clear: () => known.clear(),
    async close() {
      await Promise.all([sessionsUsed.close(), keysUsed.close()]);
    },
  };
}

export function idleText(seconds: number): string {
  return `It was not used for ${seconds === 604_800 ? "a week" : `${seconds / 60} minutes`}.`;
}

/** @param reason a sentence */
export function sessionEnded(reason: string): AppError {
  return new AppError("invalid_session", `Your session has ended. ${reason} Sign in again.`);
}

function loadSession(
  control: ControlDatabase,
  hash: string,
  { longestSeconds }: SessionLimits,
): Promise<KnownSession | undefined> {
  return control.read(async (database) => {
    const row = await database.selectFrom("sessions").selectAll().where("secret_hash", "=", hash).executeTakeFirst();
    if (row === undefined) return undefined;
    const ids = [row.key_id, ...(row.operator_key_id === null ? [] : [row.operator_key_id])];
    const loaded = await Promise.all(ids.map((id) => loadKey(database, { id })));
    // The columns are foreign keys, and keys are never deleted.
    const [key, operatorKey] = loaded as [KnownKey, KnownKey?];
    const keys = operatorKey === undefined ? [key] : [key, operatorKey];
    const expiresMs = Math.min(row.expires_at, row.created_at + longestSeconds) * 1000;
    return {
      hash,
      session: {
        sessionId: row.id,
        key: key.key,
        operatorKey: operatorKey?.key,
        expiresAt: Math.min(expiresMs, ...keys.map((each) => each.expiresMs)) / 1000,
      },
      keys,
      expiresMs,
      usedMs: row.last_used_at * 1000,
    };
  });
}
