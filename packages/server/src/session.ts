/** A session of the web console, and the key that stands for it in a request. */
import { administrative, type Permission } from "./permissions.ts";
import { keyOfPerson, type CheckedPerson } from "./person.ts";
import type { CheckedKey, ScopeClaim } from "./tenant.ts";

interface AnySession {
  readonly sessionId: string;
  /** UNIX seconds at which the session, or one of its keys, expires. */
  readonly expiresAt: number;
}

/** A session that was opened with keys, which are all valid. Created by tenancy/. */
export interface KeySession extends AnySession {
  readonly person?: undefined;
  /** The API key; the operator key if the person signed in with it alone. */
  readonly key: CheckedKey;
  /** The key for the admin API, if it is another one. */
  readonly operatorKey: CheckedKey | undefined;
}

/** A session of a person who may sign in. Created by sign-in/. */
export interface PersonSession extends AnySession {
  readonly person: CheckedPerson;
  /** The organization of requests that name none. */
  readonly organizationId: string | undefined;
  /** The identity provider; undefined if the person signed in otherwise. */
  readonly provider: string | undefined;
}

export type CheckedSession = KeySession | PersonSession;

/**
 * The key of a session that a request uses. One with keys has an operator key for the admin API and an API key for everything else.
 * @throws AppError as `keyOfPerson`
 */
export function sessionKey(
  session: CheckedSession,
  permission: Permission | "any",
  claim: ScopeClaim = {},
): CheckedKey {
  if (session.person !== undefined) return keyOfPerson(session.person, claim, session.organizationId);
  return administrative.has(permission) ? (session.operatorKey ?? session.key) : session.key;
}

/** How long sessions of browsers last. */
export interface SessionLimits {
  readonly longestSeconds: number;
  /** Without a request. */
  readonly idleSeconds: number;
}
