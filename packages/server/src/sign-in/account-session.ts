/** Opens the session of a person who proved with an account who they are. */
import type { Session } from "../api/sessions.ts";
import { AppError } from "../errors.ts";
import { refuseOtherOrigins } from "../http/authenticate-session.ts";
import type { FailedKeys } from "../http/failed-keys.ts";
import { json, type RouteInput, type RouteResponse } from "../http/route.ts";
import type { SecretCookie } from "../http/session-cookie.ts";
import { keyOfPerson } from "../person.ts";
import type { PersonSession } from "../session.ts";
import { describeAct } from "../tenancy/audit/current-act.ts";
import type { Writer } from "../tenancy/control-database.ts";
import type { PersonRow } from "../tenancy/people.ts";
import { toSession } from "../tenancy/session-answer.ts";
import { createBrowserSession, firstOrganization } from "./person-sessions.ts";

export interface AccountSessionParts {
  /** @throws AppError permission_denied while the configuration has no accounts */
  readonly requireEnabled: () => void;
  readonly checkSession: (secret: string) => PersonSession | undefined | Promise<PersonSession | undefined>;
  readonly failedKeys: FailedKeys;
  readonly sessionCookie: SecretCookie;
  /** Ends the session with this secret, of either kind. */
  readonly endSession: (secret: string) => Promise<void>;
}

const lifetimeSeconds = 7 * 86_400;
/** What counts like a wrong key. */
const guesses: ReadonlySet<string> = new Set(["invalid_credentials", "invalid_sign_in_code"]);

/**
 * Answers with the session that `open` begins, and its cookie.
 * @param open proves who signs in, and returns the secret that `openSession` yields
 */
export async function beginSession<Body>(
  parts: AccountSessionParts,
  input: RouteInput<Body>,
  open: (input: RouteInput<Body>) => Promise<string>,
): Promise<RouteResponse> {
  const { clientAddress, headers, note, origin } = input;
  const { failedKeys, sessionCookie } = parts;
  refuseOtherOrigins(headers, origin());
  parts.requireEnabled();
  let secret: string;
  try {
    secret = await open(input);
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
  const value: Session = toSession(session, keyOfPerson(session.person, {}, session.organizationId));
  return json(value, 201, { "set-cookie": cookie });
}

/**
 * @returns the secret of a new session
 * @throws AppError sign_in_refused if no organization is left to the person
 */
export async function openSession(
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

export function requireNotDisabled({ disabled_at: disabledAt, email }: PersonRow): void {
  if (disabledAt === null) return;
  throw new AppError("sign_in_refused", `The account of ${email} has been disabled. Ask an administrator.`);
}
