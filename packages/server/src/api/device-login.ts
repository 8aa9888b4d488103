/**
 * The operations with which a terminal signs in: it shows a code, and a person who is signed in to the console approves it.
 * https://www.rfc-editor.org/rfc/rfc8628
 */
import { Type } from "typebox";
import { inputLimit } from "../input-limits.ts";
import { adminBodyBytes, operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

export const tokenBodyBytes = inputLimit({
  area: "Administration",
  bounds: "Body of a request for tokens",
  value: 8_192,
  unit: "bytes",
  error: "payload_too_large",
});

const open = { tag: "Sessions", permission: "none", maxBodyBytes: tokenBodyBytes, method: "POST" } as const;
const form = "application/x-www-form-urlencoded";

const DeviceAuthorization = schema(
  Type.Object(
    {
      device_code: Type.String({ description: "The code with which the terminal asks for tokens. It is secret." }),
      user_code: Type.String({ description: "The code that the terminal shows." }),
      verification_uri: Type.String({ description: "The page on which a person enters the code." }),
      verification_uri_complete: Type.String({ description: "The same page, with the code." }),
      expires_in: Type.Integer({ description: "Seconds until the codes expire." }),
      interval: Type.Integer({ description: "Seconds between two requests for tokens." }),
    },
    { description: "The codes of a terminal that wants to sign in." },
  ),
);
export type DeviceAuthorization = TypeOf<typeof DeviceAuthorization>;

export const createDeviceAuthorizationOperation = operation({
  ...open,
  id: "createDeviceAuthorization",
  path: "/authentication/device_authorization",
  summary: "Begin to sign a terminal in (RFC 8628)",
  rawBody: {
    types: [form],
    description: "`client_id`: the name of the terminal, which the person sees, such as `sounding on laptop`.",
  },
  answer: { type: "application/json", schema: DeviceAuthorization, description: "The codes." },
});

const Tokens = schema(
  Type.Object(
    {
      access_token: Type.String({ description: "Is sent like an API key." }),
      token_type: Type.Literal("Bearer", { description: "Always `Bearer`." }),
      expires_in: Type.Integer({ description: "Seconds until the access token expires." }),
      refresh_token: Type.String({ description: "Is exchanged for new tokens, once." }),
    },
    { description: "The tokens of a terminal." },
  ),
);
export type Tokens = TypeOf<typeof Tokens>;

const oauthErrors = {
  types: ["application/json"],
  description:
    "`error` and `error_description` of OAuth: `authorization_pending`, `slow_down`, `access_denied`, `expired_token`, `invalid_grant`, `invalid_request`, `unsupported_grant_type`.",
};

export const createTokensOperation = operation({
  ...open,
  id: "createTokens",
  path: "/authentication/token",
  summary: "Get or refresh the tokens of a terminal",
  rawBody: {
    types: [form],
    description:
      "`grant_type`: `urn:ietf:params:oauth:grant-type:device_code` with `device_code`, or `refresh_token` with `refresh_token`.",
  },
  answer: { type: "application/json", schema: Tokens, description: "The tokens." },
  errors: oauthErrors,
});

export const revokeTokenOperation = operation({
  ...open,
  id: "revokeToken",
  path: "/authentication/revoke_token",
  summary: "End the session of a terminal (RFC 7009)",
  description: "Also responds with 200 if the token is unknown.",
  rawBody: { types: [form], description: "`token`: an access token or a refresh token." },
  answer: { type: "application/json", description: "The session has ended." },
  errors: oauthErrors,
});

const DeviceRequest = schema(
  Type.Object(
    {
      object: Type.Literal("device_request", { description: "Always `device_request`." }),
      user_code: Type.String({ description: "The code that the terminal shows." }),
      client: Type.String({ description: "The name that the terminal gives itself." }),
      address: Type.Union([Type.String(), Type.Null()], { description: "The terminal's address." }),
      status: Type.Enum(["pending", "approved", "denied"], { description: "What was decided." }),
      expires_at: Type.Integer({ description: "When the code expires, UNIX seconds." }),
    },
    { description: "A terminal that waits for a person to sign it in." },
  ),
);
export type DeviceRequest = TypeOf<typeof DeviceRequest>;

const deciding = { tag: "Sessions", permission: "any", maxBodyBytes: adminBodyBytes } as const;
const pathParameters = { user_code: "The code that the terminal shows, with or without its hyphen." };

export const getDeviceRequestOperation = operation({
  ...deciding,
  id: "getDeviceRequest",
  method: "GET",
  path: "/authentication/device_requests/{user_code}",
  summary: "Show a terminal that wants to sign in",
  description: "Requires the session of a person.",
  pathParameters,
  answer: { type: "application/json", schema: DeviceRequest, description: "The terminal." },
});

const DeviceDecision = schema(
  Type.Object(
    { decision: Type.Enum(["approve", "deny"], { description: "`approve` signs the terminal in as you." }) },
    { additionalProperties: false, description: "What the person decides." },
  ),
);

export const decideDeviceRequestOperation = operation({
  ...deciding,
  id: "decideDeviceRequest",
  method: "POST",
  path: "/authentication/device_requests/{user_code}",
  summary: "Approve or deny a terminal that wants to sign in",
  description:
    "Requires the session of a person. The terminal gets a session of its own, with the person's roles, for the session's organization.",
  pathParameters,
  body: DeviceDecision,
  answer: { type: "application/json", schema: DeviceRequest, description: "The terminal." },
});

export const deviceLoginOperations = [
  createDeviceAuthorizationOperation,
  createTokensOperation,
  revokeTokenOperation,
  getDeviceRequestOperation,
  decideDeviceRequestOperation,
];
