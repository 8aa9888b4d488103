/**
 * Signing a terminal in: the terminal gets a code and asks for tokens, and a person who is signed in to the console decides.
 * https://www.rfc-editor.org/rfc/rfc8628
 */
import {
  createDeviceAuthorizationOperation,
  createTokensOperation,
  decideDeviceRequestOperation,
  getDeviceRequestOperation,
  revokeTokenOperation,
  type DeviceRequest,
  type Tokens,
} from "../api/device-login.ts";
import { AppError } from "../errors.ts";
import { clientNetwork } from "../http/client-address.ts";
import type { FailedKeys } from "../http/failed-keys.ts";
import { json, route, type ErrorWriter, type Route, type RouteInput, type RouteResponse } from "../http/route.ts";
import { inputLimit } from "../input-limits.ts";
import { RatePerMinute } from "../rate-per-minute.ts";
import type { PersonSession } from "../session.ts";
import type { ControlDatabase, Reader } from "../tenancy/control-database.ts";
import { loadPerson } from "../tenancy/load-person.ts";
import { publicAddress, type ServerAddress } from "../tenancy/sign-in-link.ts";
import {
  createDeviceCode,
  decideDeviceCode,
  deviceCodeSeconds,
  findByUserCode,
  readUserCode,
  showUserCode,
  takeDeviceCode,
  type DeviceCodeRow,
} from "./device-codes.ts";
import {
  accessTokenSeconds,
  createTerminalSession,
  endSessionOf,
  longestSessionSeconds,
  refreshTerminalSession,
  type TerminalTokens,
} from "./person-sessions.ts";

export interface DeviceRouteParts {
  readonly control: ControlDatabase;
  readonly address: ServerAddress;
  readonly failedKeys: FailedKeys;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

const intervalSeconds = 2;
const startsPerMinute = inputLimit({
  area: "Administration",
  bounds: "Terminals of one client address that begin to sign in in a minute",
  value: 20,
  error: "rate_limited",
});
const requestsPerMinute = inputLimit({
  area: "Administration",
  bounds: "Requests for tokens of one client address in a minute",
  value: 300,
  error: "rate_limited",
});
const codesPerMinute = inputLimit({
  area: "Administration",
  bounds: "Codes of terminals that one person tries in a minute",
  value: 20,
  error: "rate_limited",
});

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

export function deviceRoutes({ address, control, failedKeys, now }: DeviceRouteParts): Route[] {
  const starts = new RatePerMinute(startsPerMinute, now);
  const requests = new RatePerMinute(requestsPerMinute, now);
  const codes = new RatePerMinute(codesPerMinute, now);

  const begin = route(createDeviceAuthorizationOperation, async ({ bytes, clientAddress, origin }) => {
    const network = clientNetwork(clientAddress ?? "");
    limit(starts.count(network));
    const client = formOf(bytes).get("client_id") ?? "";
    const { deviceCode, userCode } = await control.write((transaction) =>
      createDeviceCode(transaction, { client: client === "" ? "a terminal" : client, address: clientAddress, network }),
    );
    const page = `${publicAddress(origin(), address)}/console/device`;
    return json({
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: page,
      verification_uri_complete: `${page}?code=${userCode}`,
      expires_in: deviceCodeSeconds,
      interval: intervalSeconds,
    });
  });

  const tokens = route(
    createTokensOperation,
    async (input) => {
      limit(requests.count(clientNetwork(input.clientAddress ?? "")));
      const form = formOf(input.bytes);
      switch (form.get("grant_type")) {
        case deviceGrant:
          return await byDeviceCode(form.get("device_code") ?? "", input);
        case "refresh_token":
          return await byRefreshToken(form.get("refresh_token") ?? "", input);
        default:
          return oauthError("unsupported_grant_type", `grant_type must be "${deviceGrant}" or "refresh_token".`);
      }
    },
    { writeError: writeOauthError },
  );

  async function byDeviceCode(
    deviceCode: string,
    { clientAddress, note }: RouteInput<unknown>,
  ): Promise<RouteResponse> {
    const taken = await control.write(async (transaction) => {
      const row = await takeDeviceCode(transaction, deviceCode);
      if (row === undefined || row.status !== "approved" || row.person_id === null) return { row, session: undefined };
      const known = await loadPerson(transaction, row.person_id);
      const approvedIn = await approvingSession(transaction, row);
      // What ended the session, such as a new password, must not leave a terminal that it approved.
      if (known === undefined || known.refusal !== undefined || approvedIn === undefined)
        return { row, session: undefined };
      const session = await createTerminalSession(transaction, {
        personId: row.person_id,
        organizationId: row.organization_id ?? undefined,
        client: row.client,
        address: row.address ?? undefined,
        lifetimeSeconds: longestSessionSeconds,
        at: signedInAt(approvedIn),
      });
      return { row, session };
    });
    if (taken.session !== undefined) {
      note({ person_id: taken.row?.person_id });
      return answer(taken.session);
    }
    if (taken.row === undefined) {
      failedKeys.count(clientAddress);
      return oauthError("expired_token", "The code is unknown, was used, or has expired. Run the command again.");
    }
    if (taken.row.status === "pending")
      return oauthError("authorization_pending", "Nobody has approved the terminal yet.");
    return oauthError("access_denied", "The person did not approve the terminal, or has no access.");
  }

  async function byRefreshToken(token: string, { clientAddress }: RouteInput<unknown>): Promise<RouteResponse> {
    const refreshed = await control.change((transaction) => refreshTerminalSession(transaction, token));
    if (refreshed !== undefined) return answer(refreshed);
    failedKeys.count(clientAddress);
    return oauthError("invalid_grant", "The session of the terminal has ended. Run `sounding login` again.");
  }

  const revoke = route(
    revokeTokenOperation,
    async ({ bytes, clientAddress }) => {
      limit(requests.count(clientNetwork(clientAddress ?? "")));
      const token = formOf(bytes).get("token") ?? "";
      await control.change((transaction) => endSessionOf(transaction, token));
      return json({});
    },
    { writeError: writeOauthError },
  );

  const show = route(getDeviceRequestOperation, async ({ path, session }) => {
    const { person } = requirePersonSession(session);
    limit(codes.count(person.id));
    const userCode = readUserCode(path["user_code"] ?? "");
    return json(toDeviceRequest(await control.read((database) => findByUserCode(database, userCode))));
  });

  const decide = route(decideDeviceRequestOperation, async ({ body, note, path, scope, session }) => {
    const { person, sessionId } = requirePersonSession(session);
    limit(codes.count(person.id));
    const isApproved = body.decision === "approve";
    const decision = { isApproved, personId: person.id, organizationId: scope.organizationId, sessionId };
    const userCode = readUserCode(path["user_code"] ?? "");
    const row = await control.change((transaction) => decideDeviceCode(transaction, userCode, decision));
    note({ terminal: row.client, decision: body.decision });
    return json(toDeviceRequest(row));
  });

  return [begin, tokens, revoke, show, decide];
}

/** Undefined if it has ended. */
async function approvingSession(database: Reader, { approved_by: sessionId }: DeviceCodeRow) {
  if (sessionId === null) return undefined;
  return await database
    .selectFrom("person_sessions")
    .select(["provider", "subject", "provider_session"])
    .where("id", "=", sessionId)
    .executeTakeFirst();
}

/** Signed out at the provider, the person is signed out of the terminal as well. */
function signedInAt(session: NonNullable<Awaited<ReturnType<typeof approvingSession>>>) {
  const { provider, provider_session: providerSession, subject } = session;
  if (provider === null || subject === null) return undefined;
  return { provider, subject, providerSession: providerSession ?? undefined, refreshToken: undefined };
}

function requirePersonSession(session: RouteInput<unknown>["session"]): PersonSession {
  if (session?.person !== undefined) return session;
  throw new AppError(
    "permission_denied",
    "Only a person who is signed in to the console can sign a terminal in; keys cannot. Use `sounding login --key-file` with a key.",
  );
}

function limit(waitMs: number): void {
  if (waitMs === 0) return;
  throw new AppError("rate_limited", "Too many requests to sign a terminal in. Retry later.", { retryAfterMs: waitMs });
}

function formOf(bytes: Buffer): URLSearchParams {
  return new URLSearchParams(bytes.toString("utf8"));
}

function answer({ accessToken, refreshToken }: TerminalTokens): RouteResponse {
  return json({
    access_token: accessToken,
    token_type: "Bearer",
    expires_in: accessTokenSeconds,
    refresh_token: refreshToken,
  } satisfies Tokens);
}

function toDeviceRequest(row: DeviceCodeRow): DeviceRequest {
  return {
    object: "device_request",
    user_code: showUserCode(row.user_code),
    client: row.client,
    address: row.address,
    status: row.status,
    expires_at: row.expires_at,
  };
}

/** https://www.rfc-editor.org/rfc/rfc6749#section-5.2 */
function oauthError(error: string, description: string): RouteResponse {
  return json({ error, error_description: description }, 400);
}

const writeOauthError: ErrorWriter = (error) => ({
  bytes: Buffer.from(
    JSON.stringify({
      error: error.code === "rate_limited" ? "slow_down" : error.status < 500 ? "invalid_request" : "server_error",
      error_description: error.message,
    }),
  ),
  type: "application/json",
});
