/** The operations with which people sign in at an identity provider (OpenID Connect). */
import { Type } from "typebox";
import { inputLimit } from "../input-limits.ts";
import { operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const signingIn = { tag: "Sessions", permission: "none" } as const;
const pathParameters = { provider: "Name of the provider in the configuration (`sign_in.providers`)." };

export const logoutBodyBytes = inputLimit({
  area: "Administration",
  bounds: "Body of a back-channel logout",
  value: 131_072,
  unit: "bytes",
  error: "payload_too_large",
});

const IdentityProvider = Type.Object(
  {
    object: Type.Literal("identity_provider", { description: "Always `identity_provider`." }),
    name: Type.String({ description: "Name of the provider in the configuration." }),
    label: Type.String({ description: "Name for people." }),
    available: Type.Boolean({ description: "Whether the server could reach the provider when it last tried." }),
    path: Type.String({ description: "Where signing in begins, relative to the address of the API: `sign-in/NAME`." }),
  },
  { description: "An identity provider with which people sign in." },
);

const IdentityProviderList = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(IdentityProvider, { description: "The providers, in the order of the configuration." }),
      accounts: Type.Boolean({
        description: "Whether somebody can sign in with a mail address and a password (`sign_in.accounts`).",
      }),
      passkeys: Type.Boolean({ description: "Whether somebody can sign in with a passkey." }),
    },
    { description: "The identity providers." },
  ),
);
export type IdentityProviderList = TypeOf<typeof IdentityProviderList>;

export const listIdentityProvidersOperation = operation({
  ...signingIn,
  id: "listIdentityProviders",
  method: "GET",
  path: "/authentication/providers",
  summary: "List the identity providers with which people sign in",
  answer: { type: "application/json", schema: IdentityProviderList, description: "The providers." },
});

export const startSignInOperation = operation({
  ...signingIn,
  id: "startSignIn",
  method: "GET",
  path: "/sign-in/{provider}",
  summary: "Sign in at an identity provider: redirect to it",
  description: "For browsers. A cookie that lasts ten minutes binds the provider's answer to this browser.",
  pathParameters,
  queryParameters: { return_to: "A view of the console to show after the sign-in, such as `device?code=BCDF-GHJK`." },
  answer: { status: 303, type: "text/html", description: "`Location` is the provider's page." },
});

export const finishSignInOperation = operation({
  ...signingIn,
  id: "finishSignIn",
  method: "GET",
  path: "/sign-in/{provider}/callback",
  summary: "Finish a sign-in: the redirect URI of an identity provider",
  pathParameters,
  queryParameters: {
    code: "The authorization code.",
    state: "The value with which the sign-in began.",
    iss: "The issuer (RFC 9207).",
    error: "Why the provider did not sign the person in.",
    error_description: "The same in words.",
  },
  answer: { status: 303, type: "text/html", description: "`Set-Cookie` has the session; `Location` is the console." },
});

export const backchannelLogoutOperation = operation({
  ...signingIn,
  id: "backchannelLogout",
  method: "POST",
  path: "/sign-in/{provider}/backchannel-logout",
  summary: "End the sessions of a person who has signed out at an identity provider",
  description: "For identity providers: OpenID Connect Back-Channel Logout 1.0. A token works once.",
  pathParameters,
  maxBodyBytes: logoutBodyBytes,
  rawBody: { types: ["application/x-www-form-urlencoded"], description: "`logout_token`: the provider's token." },
  answer: { type: "application/json", description: "The sessions have ended." },
});

export const identityProviderOperations = [
  listIdentityProvidersOperation,
  startSignInOperation,
  finishSignInOperation,
  backchannelLogoutOperation,
];
