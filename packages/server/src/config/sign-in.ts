/** How people sign in, and whose tokens the API accepts: `sign_in` of the configuration file. */
import { Type, type Static } from "typebox";
import { namePattern } from "../tenant.ts";
import { httpUrl, milliseconds, secret, sendableKey } from "./setting-types.ts";

/** Algorithms with a public key. Others are never accepted: `none` is no signature, and HS256 would need a shared secret. */
export const signatureAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

const claimName = (description: string, defaultName: string) =>
  Type.String({ minLength: 1, maxLength: 200, default: defaultName, description });

const rule = Type.Object(
  {
    claim: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description:
          "The claim that the rule looks at, such as `department`; with dots for a nested one, such as `realm_access.roles`. Absent: the claim of groups.",
      }),
    ),
    values: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 500, description: "A value; `*` matches any text." }), {
        minItems: 1,
        maxItems: 100,
        description:
          "The rule applies if the claim is, or contains, one of these values; `*` matches any text. Absent: it applies to everyone who has the claim; without `claim` as well, to everyone.",
      }),
    ),
    organization: Type.String({
      pattern: namePattern,
      description: "Name of the organization to which it gives access.",
    }),
    project: Type.Optional(
      Type.String({
        pattern: namePattern,
        description: "Name of the project to which it gives access. Absent: all projects of the organization.",
      }),
    ),
    role: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "The role in the organization or the project, such as `viewer`.",
    }),
  },
  { description: "Who gets which role where." },
);
export type SignInRule = Static<typeof rule>;

const provider = Type.Object(
  {
    label: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 60,
        description: "Name of the provider on the sign-in page. Absent: the name of the setting.",
      }),
    ),
    issuer: Type.String({
      pattern: httpUrl,
      description:
        "The provider's issuer, exactly as its metadata and its tokens name it. The metadata is read from `/.well-known/openid-configuration` below it.",
    }),
    allow_http: Type.Boolean({
      default: false,
      description:
        "Whether the provider may be called without TLS, in a network that you trust. Addresses of this machine may always be.",
    }),
    client_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description:
          "Sounding's client at the provider. Absent: people cannot sign in with it; only tokens are accepted.",
      }),
    ),
    client_secret: Type.Optional(
      secret("Secret of the client. Absent: a public client, which has none.", { pattern: sendableKey }),
    ),
    scopes: Type.Array(
      Type.String({ pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$", maxLength: 200, description: "A scope." }),
      {
        maxItems: 50,
        default: ["openid", "profile", "email"],
        description:
          "Scopes that are requested; `openid` always is. With `offline_access`, most providers issue a refresh token, with which Sounding notices that access has ended.",
      },
    ),
    parameters: Type.Record(Type.String({ minLength: 1, maxLength: 100 }), Type.String({ maxLength: 500 }), {
      default: {},
      description:
        "More parameters of the authorization request, such as `prompt: select_account`. They cannot replace those of the protocol.",
    }),
    claims: Type.Object(
      {
        email: claimName("Claim with the e-mail address.", "email"),
        name: claimName("Claim with the name for display.", "name"),
        groups: claimName("Claim with the groups, for rules without `claim`.", "groups"),
      },
      { default: {}, description: "Which claims have what; with dots for nested ones." },
    ),
    trust_emails: Type.Boolean({
      default: false,
      description:
        "Whether e-mail addresses count as verified although the provider does not say so (`email_verified`). Set it only if nobody can choose their own address there, as with Entra ID in one tenant: an account with a person's address becomes that person.",
    }),
    rules: Type.Array(rule, {
      maxItems: 1_000,
      default: [],
      description:
        "Who gets which role where. Of the rules for the same organization, or for the same project, the first that applies counts. A person to whom none applies is refused, unless an administrator has given them a membership.",
    }),
    audiences: Type.Array(Type.String({ minLength: 1, maxLength: 500, description: "An audience." }), {
      maxItems: 50,
      default: [],
      description:
        "The API accepts tokens of this issuer (JWT) as if they were keys if their `aud` has one of these values. Empty: it accepts none.",
    }),
    algorithms: Type.Array(Type.Enum([...signatureAlgorithms], { description: "An algorithm." }), {
      minItems: 1,
      maxItems: signatureAlgorithms.length,
      default: [...signatureAlgorithms],
      description: "Algorithms with which the provider's tokens may be signed.",
    }),
    clock_skew_seconds: Type.Integer({
      minimum: 0,
      maximum: 600,
      default: 30,
      description: "How far the provider's clock may differ from this server's.",
    }),
    timeout_ms: milliseconds(5_000, "Longest wait for one response of the provider."),
    session_hours: Type.Integer({
      minimum: 1,
      maximum: 720,
      default: 168,
      description: "How long a session lasts at most; then the person signs in at the provider again.",
    }),
    recheck_minutes: Type.Integer({
      minimum: 1,
      maximum: 1_440,
      default: 15,
      description:
        "How often the refresh token of a session in use is sent to the provider. If it is refused, the session ends; otherwise, memberships follow the new claims.",
    }),
  },
  { description: "A provider of OpenID Connect." },
);
export type ProviderSettings = Static<typeof provider>;

export const signIn = Type.Object(
  {
    accounts: Type.Boolean({
      default: true,
      description:
        "Whether people can sign in with a mail address and a password. `false` refuses passwords and links to choose one; sessions that are open continue.",
    }),
    session_hours: Type.Integer({
      minimum: 1,
      maximum: 720,
      default: 720,
      description:
        "Longest time that a session of the console lasts, whatever opened it. Without it, one with keys lasts 30 days, one with a password 7 days, and one of a provider its own `session_hours`. Terminals are not limited by it.",
    }),
    session_idle_minutes: Type.Integer({
      minimum: 5,
      maximum: 10_080,
      default: 10_080,
      description:
        "How long a session of the console lasts without a request. Pages that show live data send requests while they are open.",
    }),
    providers: Type.Record(Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,39}$" }), provider, {
      maxProperties: 50,
      propertyNames: { pattern: "^[a-z0-9][a-z0-9_-]{0,39}$" },
      default: {},
      description:
        "Identity providers, each under a name of your choice: lower-case letters, digits, `-` and `_`. The name is part of the redirect URI, `/sign-in/NAME/callback`, and identifies the people who sign in with it: a provider with another name has other people.",
    }),
  },
  {
    default: {},
    description:
      "How people sign in: with accounts of this server, and at identity providers, whose tokens the API accepts as well.",
  },
);
export type SignInSettings = Static<typeof signIn>;

/** Whether the host is this machine, so that its connections need no TLS. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}
