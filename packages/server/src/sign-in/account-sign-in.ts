/**
 * Signing in with a mail address and a password, and choosing the password with a link.
 * docs/adr/0246-local-accounts.md
 */
import {
  acceptAccountLinkOperation,
  createAccountSessionOperation,
  type LinkAcceptance,
  type PasswordSignIn,
} from "../api/accounts.ts";
import { AppError } from "../errors.ts";
import { refuseOtherOrigins } from "../http/authenticate-session.ts";
import { clientNetwork } from "../http/client-address.ts";
import type { FailedKeys } from "../http/failed-keys.ts";
import { route, type Route, type RouteInput, type RouteResponse } from "../http/route.ts";
import type { SecretCookie } from "../http/session-cookie.ts";
import { keyOfPerson } from "../person.ts";
import type { PersonSession } from "../session.ts";
import { personOfLink, takeAccountLink } from "../tenancy/account-links.ts";
import { describeAct } from "../tenancy/audit/current-act.ts";
import type { ControlDatabase, Writer } from "../tenancy/control-database.ts";
import { requirePerson, type PersonRow } from "../tenancy/people.ts";
import { updatePerson } from "../tenancy/person-changes.ts";
import { toSession } from "../tenancy/session-answer.ts";
import type { AccountDelays } from "./account-delays.ts";
import { findAccount, replaceAccount, useCode } from "./accounts.ts";
import type { PasswordHash } from "./password-hash.ts";
import { requireGoodPassword } from "./password-rules.ts";
import type { PasswordWork } from "./password-work.ts";
import { createBrowserSession, firstOrganization } from "./person-sessions.ts";
import { openToken } from "./sealed-token.ts";

export interface AccountSignInParts {
  readonly control: ControlDatabase;
  readonly delays: AccountDelays;
  readonly work: PasswordWork;
  readonly hash: PasswordHash;
  /** @throws AppError permission_denied while the configuration has no accounts */
  readonly requireEnabled: () => void;
  readonly checkSession: (secret: string) => PersonSession | undefined | Promise<PersonSession | undefined>;
  readonly failedKeys: FailedKeys;
  readonly sessionCookie: SecretCookie;
  /** Ends the session with this secret, of either kind. */
  readonly endSession: (secret: string) => Promise<void>;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

const lifetimeSeconds = 7 * 86_400;
/** What counts like a wrong key. */
const guesses: ReadonlySet<string> = new Set(["invalid_credentials", "invalid_sign_in_code"]);

export function accountSignInRoutes(parts: AccountSignInParts): Route[] {
  const { control, delays, failedKeys, hash, now, sessionCookie, work } = parts;

  /** Opens a session with what `open` proves, bounded like every use of a password, and answers with its cookie. */
  async function begin<Body>(
    input: RouteInput<Body>,
    open: (input: RouteInput<Body>) => Promise<string>,
  ): Promise<RouteResponse> {
    const { clientAddress, headers, note, origin, signal } = input;
    refuseOtherOrigins(headers, origin());
    parts.requireEnabled();
    let secret: string;
    try {
      secret = await work.run(clientAddress, signal, () => open(input));
    } catch (error) {
      const isGuess = error instanceof AppError && guesses.has(error.code);
      if (isGuess) failedKeys.count(clientAddress);
      throw error;
    }
    const session = await parts.checkSession(secret);
    if (session === undefined) throw new AppError("invalid_session", "Your session has ended. Sign in again.");
    const { secure } = origin();
    const previous = sessionCookie.read(headers, secure);
    if (previous !== undefined) await parts.endSession(previous);
    note({ session_id: session.sessionId, person_id: session.person.id });
    const cookie = sessionCookie.set(secret, { secure, maxAgeSeconds: lifetimeSeconds });
    const value = toSession(session, keyOfPerson(session.person, {}, session.organizationId));
    return { kind: "json", value, status: 201, headers: { "cache-control": "no-store", "set-cookie": cookie } };
  }

  async function byPassword({ body, clientAddress, headers }: RouteInput<PasswordSignIn>): Promise<string> {
    const at = { email: body.email, network: clientNetwork(clientAddress ?? "") };
    await delays.begin(at);
    const known = await control.read((database) => findAccount(database, { email: body.email }));
    const key = await hash.check(body.password, known?.account.password_hash);
    if (known === undefined || key === undefined)
      throw new AppError("invalid_credentials", "The mail address or the password is wrong.", { param: "password" });
    const { account, person } = known;
    requireNotDisabled(person);
    const isCodeMissing = account.totp_secret !== null && body.code === undefined;
    if (isCodeMissing) {
      await delays.undo(at);
      throw new AppError("second_factor_required", "Enter the code of your authenticator app, or a recovery code.", {
        param: "code",
      });
    }
    return await control.writeAct(async (transaction) => {
      if (account.totp_secret !== null) {
        const secret = openToken(account.totp_secret, key, person.id);
        const code = { code: body.code ?? "", secret: secret ?? "", now: now() / 1000 };
        if (secret === undefined || !(await useCode(transaction, account, code)))
          throw new AppError("invalid_credentials", "The code is wrong, or was used before.", { param: "code" });
      }
      await delays.succeed(transaction, at);
      return await openSession(transaction, person, { clientAddress, headers });
    });
  }

  async function byLink({ body, clientAddress, headers }: RouteInput<LinkAcceptance>): Promise<string> {
    // Anyone can send tokens: only those that exist cost a hash and a lock for writing.
    const id = await control.read((database) => personOfLink(database, body.token));
    if (id === undefined) throw invalidLink();
    const { email } = await control.read((database) => requirePerson(database, id));
    requireGoodPassword(body.password, { email });
    const { stored } = await hash.create(body.password);
    return await control.change(async (transaction) => {
      const personId = await takeAccountLink(transaction, body.token);
      if (personId === undefined) throw invalidLink();
      const found = await requirePerson(transaction, personId);
      requireNotDisabled(found);
      const person = body.name === undefined ? found : await updatePerson(transaction, personId, { name: body.name });
      await replaceAccount(transaction, personId, stored);
      await transaction.deleteFrom("person_sessions").where("person_id", "=", personId).execute();
      await delays.forget(transaction, person.email);
      await delays.succeed(transaction, { email: person.email, network: clientNetwork(clientAddress ?? "") });
      return await openSession(transaction, person, { clientAddress, headers });
    });
  }

  return [
    route(createAccountSessionOperation, (input) => begin(input, byPassword)),
    route(acceptAccountLinkOperation, (input) => begin(input, byLink)),
  ];
}

/** @throws AppError sign_in_refused if no organization is left to the person */
async function openSession(
  transaction: Writer,
  person: PersonRow,
  { clientAddress, headers }: Pick<RouteInput<unknown>, "clientAddress" | "headers">,
): Promise<string> {
  const organizationId = await firstOrganization(transaction, person.id);
  if (organizationId === undefined)
    throw new AppError(
      "sign_in_refused",
      `${person.email} is not a member of any organization. Ask an administrator for a membership.`,
    );
  const { secret } = await createBrowserSession(transaction, {
    personId: person.id,
    organizationId,
    client: typeof headers["user-agent"] === "string" ? headers["user-agent"] : "unknown browser",
    address: clientAddress,
    lifetimeSeconds,
  });
  describeAct({
    actor: { kind: "person", id: person.id, name: person.email, organizationId },
    object: { kind: "person", id: person.id, name: person.email },
  });
  return secret;
}

function requireNotDisabled({ disabled_at: disabledAt, email }: PersonRow): void {
  if (disabledAt === null) return;
  throw new AppError("sign_in_refused", `The account of ${email} has been disabled. Ask an administrator.`);
}

function invalidLink(): AppError {
  return new AppError(
    "invalid_sign_in_code",
    "This link is wrong, was already used, or has expired. Ask an operator for another one.",
    { param: "token" },
  );
}
