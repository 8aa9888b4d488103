/**
 * Signing in to the web console at an identity provider: the way there, the way back, and the provider's notice that a person has
 * signed out.
 * docs/adr/0242-identity-providers-and-scim.md
 */
import {
  backchannelLogoutOperation,
  finishSignInOperation,
  listIdentityProvidersOperation,
  startSignInOperation,
} from "../api/identity-providers.ts";
import { AppError } from "../errors.ts";
import { refuseOtherOrigins } from "../http/authenticate-session.ts";
import type { FailedKeys } from "../http/failed-keys.ts";
import { json, route, type Route, type RouteInput, type RouteResponse } from "../http/route.ts";
import type { SecretCookie } from "../http/session-cookie.ts";
import type { OpenIdProvider, SignedIn } from "../identity/openid-provider.ts";
import { flowLifetimeSeconds, readFlow, readReturnTo, startFlow, writeFlow } from "../identity/sign-in-flow.ts";
import type { Logger } from "../logger.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { publicAddress, type ServerAddress } from "../tenancy/sign-in-link.ts";
import { backchannelLogout } from "./backchannel-logout.ts";
import { linkPerson } from "./link-person.ts";
import { createBrowserSession, firstOrganization } from "./person-sessions.ts";
import { problemPage } from "./problem-page.ts";
import { logoutLimits, SignInAttempts, signInLimits } from "./sign-in-attempts.ts";

export interface ProviderRouteParts {
  readonly control: ControlDatabase;
  readonly providers: () => ReadonlyMap<string, OpenIdProvider>;
  readonly address: ServerAddress;
  readonly failedKeys: FailedKeys;
  readonly sessionCookie: SecretCookie;
  readonly signInCookie: SecretCookie;
  /** Ends the session with this secret, of either kind. */
  readonly endSession: (secret: string) => Promise<void>;
  /** Whether somebody can sign in with a password. */
  readonly hasAccounts: () => Promise<boolean>;
  /** Whether somebody can sign in with a passkey. */
  readonly hasPasskeys: () => Promise<boolean>;
  readonly logger: Logger;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

export function providerRoutes(parts: ProviderRouteParts): Route[] {
  const { address, control, failedKeys, logger, now, providers, sessionCookie, signInCookie } = parts;
  const attempts = new SignInAttempts(now, signInLimits);
  const logouts = new SignInAttempts(now, logoutLimits);
  const nowSeconds = (): number => Math.floor(now() / 1000);

  function providerOf({ path }: Pick<RouteInput<unknown>, "path">): OpenIdProvider {
    const name = path["provider"] ?? "";
    const provider = providers().get(name);
    if (provider?.signsPeopleIn === true) return provider;
    throw new AppError("not_found", `The identity provider ${JSON.stringify(name)} does not exist, or not for people.`);
  }

  const redirectUriOf = (provider: OpenIdProvider, { origin }: Pick<RouteInput<unknown>, "origin">): string =>
    `${publicAddress(origin(), address)}/sign-in/${provider.name}/callback`;

  const list = route(listIdentityProvidersOperation, async () =>
    json({
      object: "list",
      data: [...providers().values()]
        .filter(({ signsPeopleIn }) => signsPeopleIn)
        .map(({ isAvailable, label, name }) => ({
          object: "identity_provider",
          name,
          label,
          available: isAvailable,
          path: `sign-in/${name}`,
        })),
      accounts: await parts.hasAccounts(),
      passkeys: await parts.hasPasskeys(),
    }),
  );

  const start = route(
    startSignInOperation,
    async (input) => {
      const provider = providerOf(input);
      const flow = startFlow(provider.name, readReturnTo(input.query.get("return_to")), nowSeconds());
      const location = await provider.authorizationUrl(flow, redirectUriOf(provider, input), input.signal);
      const { secure } = input.origin();
      const cookie = signInCookie.set(writeFlow(flow), { secure, maxAgeSeconds: flowLifetimeSeconds });
      return redirect(location, [cookie]);
    },
    { writeError: problemPage("../console/") },
  );

  const finish = route(
    finishSignInOperation,
    async (input) => {
      const { clientAddress, headers, note, query, signal } = input;
      const { secure } = input.origin();
      // Whatever happens, the cookie has had its one use.
      const used = signInCookie.remove(secure);
      try {
        const provider = providerOf(input);
        const flow = readFlow(signInCookie.read(headers, secure), provider.name, nowSeconds());
        if (flow === undefined) throw notStarted();
        const redirectUri = redirectUriOf(provider, input);
        const { id, personId, secret } = await attempts.run(clientAddress, async () => {
          const signedIn = await provider.finish(query, { flow, redirectUri, signal });
          return await open(provider, signedIn, input);
        });
        note({ session_id: id, person_id: personId, provider: provider.name });
        const previous = sessionCookie.read(headers, secure);
        if (previous !== undefined) await parts.endSession(previous);
        const maxAgeSeconds = provider.settings.session_hours * 3600;
        return redirect(`../../console/${flow.returnTo}`, [sessionCookie.set(secret, { secure, maxAgeSeconds }), used]);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        if (error.code === "sign_in_failed") failedKeys.count(clientAddress);
        throw withCookie(error, used);
      }
    },
    { writeError: problemPage("../../console/") },
  );

  async function open(
    provider: OpenIdProvider,
    { identity, providerSession, refreshToken }: SignedIn,
    { clientAddress, headers }: RouteInput<unknown>,
  ): Promise<{ readonly id: string; readonly personId: string; readonly secret: string }> {
    const person = await linkPerson(identity, { control, logger });
    const created = await control.write(async (transaction) =>
      createBrowserSession(transaction, {
        personId: person.id,
        organizationId: await firstOrganization(transaction, person.id, identity.grants[0]?.organization),
        client: typeof headers["user-agent"] === "string" ? headers["user-agent"] : "unknown browser",
        address: clientAddress,
        lifetimeSeconds: provider.settings.session_hours * 3600,
        at: { provider: provider.name, subject: identity.subject, providerSession, refreshToken },
      }),
    );
    return { ...created, personId: person.id };
  }

  const logout = route(backchannelLogoutOperation, async (input) => {
    refuseOtherOrigins(input.headers, input.origin());
    const token = new URLSearchParams(input.bytes.toString("utf8")).get("logout_token") ?? "";
    const provider = providerOf(input);
    const ended = await logouts.run(input.clientAddress, () => backchannelLogout(provider, token, control));
    input.note({ provider: provider.name, sessions_ended: ended });
    return json({});
  });

  return [list, start, finish, logout];
}

function notStarted(): AppError {
  return new AppError(
    "sign_in_failed",
    "This sign-in was not started in this browser, was finished already, or took longer than ten minutes. Start again.",
  );
}

function withCookie(error: AppError, cookie: string): AppError {
  return new AppError(error.code, error.message, {
    cause: error.cause,
    retryAfterMs: error.retryAfterMs,
    headers: { ...error.headers, "set-cookie": cookie },
  });
}

function redirect(location: string, cookies: string[]): RouteResponse {
  return { kind: "empty", status: 303, headers: { location, "set-cookie": cookies } };
}
