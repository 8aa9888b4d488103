/**
 * Signing people and machines in: sessions of browsers and terminals, identity providers and their tokens.
 * docs/adr/0242-identity-providers-and-scim.md
 */
import type { ProviderSettings, SignInSettings } from "../config/sign-in.ts";
import { AppError } from "../errors.ts";
import type { KeyCheck } from "../http/authenticate.ts";
import type { FailedKeys } from "../http/failed-keys.ts";
import type { Route } from "../http/route.ts";
import type { SecretCookie } from "../http/session-cookie.ts";
import { BearerTokens } from "../identity/bearer-tokens.ts";
import { OpenIdProviders } from "../identity/openid-providers.ts";
import type { Logger } from "../logger.ts";
import { keyOfPerson } from "../person.ts";
import type { PersonSession, SessionLimits } from "../session.ts";
import type { CheckedKey, ScopeClaim } from "../tenant.ts";
import { accountLinkRoutes } from "../tenancy/account-link-routes.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { endSession } from "../tenancy/sessions.ts";
import type { PeopleSessions } from "../tenancy/sign-in.ts";
import type { ServerAddress } from "../tenancy/sign-in-link.ts";
import { AccessRecheck } from "./access-recheck.ts";
import { AccountDelays } from "./account-delays.ts";
import { createAccountProof } from "./account-proof.ts";
import { accountRoutes } from "./account-routes.ts";
import { accountSignInRoutes } from "./account-sign-in.ts";
import { hasAccounts } from "./accounts.ts";
import { deviceRoutes } from "./device-routes.ts";
import { PasskeyChallenges } from "./passkeys/challenges.ts";
import { passkeyRoutes } from "./passkeys/passkey-routes.ts";
import { passkeySignInRoutes } from "./passkeys/passkey-sign-in.ts";
import { hasPasskeys } from "./passkeys/passkeys.ts";
import { createPersonSessionCheck } from "./person-session-check.ts";
import { accessPrefix, browserPrefix, endSessionOf } from "./person-sessions.ts";
import { PasswordHash, type PasswordCost } from "./password-hash.ts";
import { PasswordWork } from "./password-work.ts";
import { providerRoutes } from "./provider-routes.ts";
import { sessionRoutes } from "./session-routes.ts";
import { createTokenOwners } from "./token-owners.ts";

export interface PeopleSignIn extends PeopleSessions {
  /** Checks the secrets of terminals, the tokens of identity providers, and, by `checkKey`, API keys. */
  readonly checkCaller: KeyCheck;
  readonly routes: readonly Route[];
  /** The settings of the identity providers that are in use. */
  providerSettings(): readonly ProviderSettings[];
  reload(settings: SignInSettings): void;
  /** Waits until no identity provider is asked about a session. */
  settled(): Promise<void>;
  /** Call it before the control database is closed. */
  close(): Promise<void>;
}

export interface PeopleSignInOptions {
  readonly control: ControlDatabase;
  readonly settings: SignInSettings;
  readonly checkKey: (secret: string) => CheckedKey | Promise<CheckedKey>;
  readonly failedKeys: FailedKeys;
  readonly address: ServerAddress;
  readonly cookies: { readonly session: SecretCookie; readonly signIn: SecretCookie };
  readonly logger: Logger;
  readonly limits: () => SessionLimits;
  /** Absent: a cost that suits servers. */
  readonly passwordCost?: PasswordCost | undefined;
  /** UNIX milliseconds. */
  readonly now?: (() => number) | undefined;
}

export function createPeopleSignIn(options: PeopleSignInOptions): PeopleSignIn {
  const { address, checkKey, control, cookies, failedKeys, logger, settings, now = Date.now } = options;
  const providers = new OpenIdProviders({ logger, now });
  const tokens = new BearerTokens(now);
  let current = settings;
  const reload = (next: SignInSettings): void => {
    current = next;
    providers.reload(next);
    tokens.accept(providers.all.values());
  };
  reload(settings);
  const recheck = new AccessRecheck({
    control,
    logger,
    now,
    providerOf: (name) => providers.all.get(name),
    onChecked: () => sessions.clear(),
  });
  const sessions = createPersonSessionCheck({
    control,
    limits: options.limits,
    logger,
    now,
    onUse: (row, secret) => recheck.consider(row, secret),
  });
  const owners = createTokenOwners({ control, logger, now, tokens });

  async function end(secret: string): Promise<void> {
    await control.change((transaction) => endSessionOf(transaction, secret));
  }

  const endSessionOfCookie = (secret: string): Promise<void> =>
    secret.startsWith(browserPrefix) ? end(secret) : endSession(control, secret);

  const accounts = {
    control,
    delays: new AccountDelays(control, now),
    work: new PasswordWork(now),
    hash: new PasswordHash(options.passwordCost),
    requireEnabled() {
      if (current.accounts) return;
      throw new AppError("permission_denied", "Accounts are disabled on this server (`sign_in.accounts`).");
    },
    now,
    checkSession: (secret: string) => sessions.check(secret),
    failedKeys,
    sessionCookie: cookies.session,
    endSession: endSessionOfCookie,
  };
  const proof = createAccountProof(accounts);
  const challenges = new PasskeyChallenges(control, now);

  function checkAccessToken(secret: string, claim: ScopeClaim): CheckedKey | Promise<CheckedKey> {
    const admit = (session: PersonSession | undefined): CheckedKey => {
      if (session === undefined)
        throw new AppError("invalid_api_key", "The access token is unknown. Run `sounding login` again.");
      return keyOfPerson(session.person, claim, session.organizationId);
    };
    const found = asKeyError(() => sessions.check(secret));
    return found instanceof Promise ? found.then(admit) : admit(found);
  }

  return {
    isSecret: (secret) => secret.startsWith(browserPrefix),
    check: (secret) => sessions.check(secret),
    end,
    checkCaller(secret, claim) {
      if (secret.startsWith(accessPrefix)) return checkAccessToken(secret, claim);
      return tokens.isToken(secret) ? owners.keyOf(secret, claim) : checkKey(secret);
    },
    routes: [
      ...providerRoutes({
        control,
        providers: () => providers.all,
        address,
        failedKeys,
        sessionCookie: cookies.session,
        signInCookie: cookies.signIn,
        endSession: endSessionOfCookie,
        hasAccounts: async () => current.accounts && (await control.read(hasAccounts)),
        hasPasskeys: async () => current.accounts && (await control.read(hasPasskeys)),
        logger,
        now,
      }),
      ...accountSignInRoutes(accounts),
      ...accountRoutes({ ...accounts, proof }),
      ...passkeySignInRoutes({ ...accounts, challenges, address }),
      ...passkeyRoutes({ ...accounts, challenges, proof, address }),
      ...accountLinkRoutes(control, address),
      ...deviceRoutes({ control, address, failedKeys, now }),
      ...sessionRoutes(control, { limits: options.limits, onEnd: () => sessions.clear() }),
    ],
    providerSettings: () => [...providers.all.values()].map(({ settings: own }) => own),
    reload,
    settled: () => recheck.settled(),
    async close() {
      providers.close();
      await recheck.close();
      await sessions.close();
    },
  };
}

/** Clients refresh a token when it is refused as a key is. */
function asKeyError<T>(check: () => T | Promise<T>): T | Promise<T> {
  const convert = (error: unknown): never => {
    if (!(error instanceof AppError) || error.code !== "invalid_session") throw error;
    throw new AppError("invalid_api_key", error.message);
  };
  try {
    const found = check();
    return found instanceof Promise ? found.catch(convert) : found;
  } catch (error) {
    return convert(error);
  }
}
