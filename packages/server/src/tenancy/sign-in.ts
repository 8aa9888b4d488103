/**
 * Signing in to the web console: exchanges keys and single-use codes for sessions.
 * docs/adr/0005-tenancy-and-sessions.md
 */
import {
  createSessionOperation,
  createSignInCodeOperation,
  deleteSessionOperation,
  getSessionOperation,
  type SignIn,
} from "../api/sessions.ts";
import { AppError } from "../errors.ts";
import { refuseOtherOrigins, type Sessions } from "../http/authenticate-session.ts";
import type { FailedKeys } from "../http/failed-keys.ts";
import { json, route, type Route } from "../http/route.ts";
import { createSessionCookie, createSignInCookie, type SecretCookie } from "../http/session-cookie.ts";
import type { Logger } from "../logger.ts";
import type { CheckedSession, KeySession, PersonSession, SessionLimits } from "../session.ts";
import type { CheckedKey } from "../tenant.ts";
import { describeAct } from "./audit/current-act.ts";
import type { ControlDatabase } from "./control-database.ts";
import type { KeyCheck } from "./key-check.ts";
import { createSessionCheck } from "./session-check.ts";
import { toSession } from "./session-answer.ts";
import { signInLink, type ServerAddress } from "./sign-in-link.ts";
import { SignInRate } from "./sign-in-rate.ts";
import {
  createSession,
  createSignInCode,
  endSession,
  redeemSignInCode,
  sessionLifetimeSeconds,
  type SessionKeys,
} from "./sessions.ts";

/** Sessions for `http/`, and the routes that open and end them. */
export interface SignInService extends Sessions {
  readonly routes: readonly Route[];
  /** Call it before the control database is closed. */
  close(): Promise<void>;
}

/** The sessions of people, as far as those of keys and of people are served alike. */
export interface PeopleSessions {
  /** Whether a cookie is one of a person. */
  isSecret(secret: string): boolean;
  check(secret: string): PersonSession | undefined | Promise<PersonSession | undefined>;
  end(secret: string): Promise<void>;
}

/** The cookies of servers with the same control database. */
export interface SignInCookies {
  readonly session: SecretCookie;
  readonly signIn: SecretCookie;
}

/** @param control with its first organization */
export async function openSignInCookies(control: ControlDatabase): Promise<SignInCookies> {
  const installation = await installationOf(control);
  return { session: createSessionCookie(installation), signIn: createSignInCookie(installation) };
}

export interface SignInOptions {
  readonly control: ControlDatabase;
  readonly cookies: SignInCookies;
  readonly people: PeopleSessions;
  readonly checkKey: KeyCheck["check"];
  readonly failedKeys: FailedKeys;
  readonly address: ServerAddress;
  readonly logger: Logger;
  readonly limits: () => SessionLimits;
  /** UNIX milliseconds. */
  readonly now?: () => number;
}

export function createSignIn({
  control,
  cookies: { session: cookie },
  people,
  checkKey,
  failedKeys,
  address,
  limits,
  logger,
  now,
}: SignInOptions): SignInService {
  const sessions = createSessionCheck({ control, limits, logger, now });
  const rate = new SignInRate(now ?? Date.now);
  const check: SignInService["check"] = (secret) =>
    people.isSecret(secret) ? people.check(secret) : sessions.check(secret);

  /** Counts wrong keys and codes of one address, like those of other requests. */
  async function counted<T>(clientAddress: string | undefined, work: () => T | Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isWrong = error instanceof AppError && error.status === 401;
      if (isWrong) failedKeys.count(clientAddress);
      throw error;
    }
  }

  async function checkedKeys({ key, operator_key: operatorSecret }: SignIn): Promise<SessionKeys> {
    const operatorKey = operatorSecret === undefined ? undefined : await keyOf("operator_key", operatorSecret);
    requireAdmin(operatorKey);
    const checked = key === undefined ? operatorKey : await keyOf("key", key);
    if (checked === undefined) {
      throw new AppError("invalid_request", "key is missing; send key, operator_key or both, or code instead.", {
        param: "key",
      });
    }
    return sessionKeys(checked, operatorKey);
  }

  async function keyOf(param: string, secret: string): Promise<CheckedKey> {
    try {
      return await checkKey(secret);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "invalid_api_key") throw error;
      throw new AppError(error.code, error.message, { param });
    }
  }

  async function redeem(code: string): Promise<SessionKeys> {
    const keys = await redeemSignInCode(control, code);
    if (keys !== undefined) return keys;
    throw new AppError(
      "invalid_sign_in_code",
      "This sign-in code is wrong, was already used, or has expired. Create another one with `sounding console`, or sign in with a key.",
      { param: "code" },
    );
  }

  const signIn = route(createSessionOperation, async ({ body, headers, origin, clientAddress, note }) => {
    refuseOtherOrigins(headers, origin());
    if (body.code !== undefined && (body.key ?? body.operator_key) !== undefined)
      throw new AppError("invalid_request", "code was sent with a key; send only one of them.", { param: "code" });
    const { secret, session } = await counted(clientAddress, async () => {
      const keys = body.code === undefined ? await checkedKeys(body) : await redeem(body.code);
      rate.count(keys.keyId);
      const created = await createSession(control, keys);
      return { secret: created, session: requireKeySession(await sessions.check(created)) };
    });
    const { secure } = origin();
    const previous = cookie.read(headers, secure);
    if (previous !== undefined) await end(previous);
    note({ session_id: session.sessionId, key_id: session.key.keyId, organization_id: session.key.organizationId });
    const setCookie = cookie.set(secret, { secure, maxAgeSeconds: sessionLifetimeSeconds });
    return json(toSession(session, session.key), 201, { "set-cookie": setCookie });
  });

  const signOut = route(deleteSessionOperation, async ({ scope, session, headers, origin }) => {
    const ended = requireSession(session);
    describeAct({ object: { kind: "session", id: ended.sessionId, name: null } });
    const { secure } = origin();
    await end(cookie.read(headers, secure) ?? "");
    return json(toSession(ended, scope.key), 200, { "set-cookie": cookie.remove(secure) });
  });

  async function end(secret: string): Promise<void> {
    if (people.isSecret(secret)) return await people.end(secret);
    await endSession(control, secret);
    sessions.clear();
  }

  const createCode = route(createSignInCodeOperation, async ({ body, scope, session, origin, clientAddress }) => {
    if (session !== undefined)
      throw new AppError("permission_denied", "A session cannot create sign-in codes; send an API key.");
    if (scope.key.person?.id === scope.key.keyId)
      throw new AppError(
        "permission_denied",
        "A person or a token cannot create sign-in codes; sign in on the console's own page, or send an API key.",
      );
    const { operator_key: operatorSecret } = body;
    const operatorKey =
      operatorSecret === undefined
        ? undefined
        : await counted(clientAddress, () => keyOf("operator_key", operatorSecret));
    requireAdmin(operatorKey);
    rate.count(scope.key.keyId);
    const { code, expiresAt } = await createSignInCode(control, sessionKeys(scope.key, operatorKey));
    const url = signInLink(code, origin(), address);
    return json({ object: "sign_in_code", code, url, expires_at: expiresAt }, 201);
  });

  return {
    cookie,
    check,
    routes: [
      signIn,
      route(getSessionOperation, ({ scope, session }) => json(toSession(requireSession(session), scope.key))),
      signOut,
      createCode,
    ],
    close: () => sessions.close(),
  };
}

/** A name that servers with the same control database share: a part of the ID of its first organization. */
async function installationOf(control: ControlDatabase): Promise<string> {
  const { id } = await control.read((database) =>
    database.selectFrom("organizations").select("id").orderBy("id").limit(1).executeTakeFirstOrThrow(),
  );
  return id.slice(-8);
}

function requireAdmin(operatorKey: CheckedKey | undefined): void {
  if (operatorKey === undefined || operatorKey.permissions.has("admin")) return;
  throw new AppError(
    "invalid_request",
    `operator_key is the key ${JSON.stringify(operatorKey.keyName)}, which does not have the permission "admin".`,
    { param: "operator_key" },
  );
}

function sessionKeys(key: CheckedKey, operatorKey: CheckedKey | undefined): SessionKeys {
  const operatorKeyId = operatorKey?.keyId === key.keyId ? undefined : operatorKey?.keyId;
  return { keyId: key.keyId, operatorKeyId };
}

function requireSession(session: CheckedSession | undefined): CheckedSession {
  if (session !== undefined) return session;
  throw new AppError("not_found", "The request has no session; it authenticates with an API key.");
}

function requireKeySession(session: KeySession | undefined): KeySession {
  if (session !== undefined) return session;
  throw new AppError("invalid_session", "Your session has ended. Sign in again.");
}
