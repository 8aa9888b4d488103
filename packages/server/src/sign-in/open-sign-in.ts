/** Signing in, composed: with keys, at identity providers, and of terminals. */
import type { ProviderSettings, SignInSettings } from "../config/sign-in.ts";
import type { KeyCheck } from "../http/authenticate.ts";
import type { Sessions } from "../http/authenticate-session.ts";
import type { Route } from "../http/route.ts";
import type { SessionLimits } from "../session.ts";
import { createKeyCheck } from "../tenancy/key-check.ts";
import { createSignIn, openSignInCookies, type SignInOptions } from "../tenancy/sign-in.ts";
import type { PasswordCost } from "./password-hash.ts";
import { createPeopleSignIn } from "./people-sign-in.ts";

export interface OpenSignIn extends Sessions {
  /** Checks API keys, the tokens of terminals, and those of identity providers. */
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

export interface OpenSignInOptions extends Omit<SignInOptions, "cookies" | "limits" | "people" | "checkKey"> {
  readonly settings: SignInSettings;
  readonly passwordCost?: PasswordCost | undefined;
}

export async function openSignIn(options: OpenSignInOptions): Promise<OpenSignIn> {
  const cookies = await openSignInCookies(options.control);
  const keys = createKeyCheck(options);
  let current = options.settings;
  const limits = (): SessionLimits => ({
    longestSeconds: current.session_hours * 3600,
    idleSeconds: current.session_idle_minutes * 60,
  });
  const parts = { ...options, checkKey: keys.check, cookies, limits };
  const people = createPeopleSignIn(parts);
  const signIn = createSignIn({ ...parts, people });
  return {
    ...signIn,
    checkCaller: people.checkCaller,
    routes: [...signIn.routes, ...people.routes],
    providerSettings: people.providerSettings,
    reload(settings) {
      current = settings;
      people.reload(settings);
    },
    settled: people.settled,
    async close() {
      await people.close();
      await signIn.close();
      await keys.close();
    },
  };
}
