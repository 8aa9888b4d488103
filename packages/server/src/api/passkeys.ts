/**
 * The operations of passkeys. What browsers and authenticators exchange has the names and the JSON forms of Web Authentication.
 * https://www.w3.org/TR/webauthn-3/#sctn-parseCreationOptionsFromJSON
 */
import { Type } from "typebox";
import { accountBodyBytes, PasswordProof, sessionAnswer } from "./accounts.ts";
import { nullable, strict } from "./admin.ts";
import { operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const passkeys = { tag: "Sessions", maxBodyBytes: accountBodyBytes } as const;
const anyone = { ...passkeys, permission: "none" } as const;
const own = { ...passkeys, permission: "any" } as const;
const root = "/authentication/account/passkeys";
const pathParameters = { passkey_id: "Identifier of the passkey." };

const base64url = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, description: `${description}, base64url.` });
const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description });
const shown = (description: string) => Type.String({ description });

const passkeyName = text(128, "Name of the passkey, for display.");

/** The specification's limit is 1023 bytes. */
const longestCredentialId = 1364;
const credentialMembers = {
  id: base64url(longestCredentialId, "The credential's ID"),
  rawId: base64url(longestCredentialId, "The same"),
  type: Type.Literal("public-key", { description: "Always `public-key`." }),
};
const clientDataJSON = base64url(4096, "What the browser says about the request, in JSON");

const Credential = Type.Object({
  type: Type.Literal("public-key", { description: "Always `public-key`." }),
  id: shown("The credential's ID, base64url."),
  transports: Type.Optional(Type.Array(Type.String(), { description: "How browsers reach the authenticator." })),
});
const challenge = shown("What the authenticator signs, base64url. It can be used once.");
const timeout = Type.Integer({ description: "Milliseconds after which the challenge expires." });
const userVerification = Type.Literal("required", { description: "The authenticator checks that it is the person." });

const PasskeyCreation = schema(
  Type.Object(
    {
      object: Type.Literal("passkey_creation", { description: "Always `passkey_creation`." }),
      public_key: Type.Object(
        {
          rp: Type.Object({ id: shown("The host name of this server."), name: shown("Name for people.") }),
          user: Type.Object({
            id: shown("Identifier of the person, base64url."),
            name: shown("Mail address of the person."),
            displayName: shown("Name of the person."),
          }),
          challenge,
          pubKeyCredParams: Type.Array(
            Type.Object({
              type: Type.Literal("public-key", { description: "Always `public-key`." }),
              alg: Type.Integer({ description: "COSE algorithm." }),
            }),
            { description: "The algorithms that the server accepts, the best first." },
          ),
          timeout,
          excludeCredentials: Type.Array(Credential, { description: "The passkeys that the person has." }),
          authenticatorSelection: Type.Object({
            residentKey: Type.Literal("required", { description: "The authenticator stores who the person is." }),
            userVerification,
          }),
          attestation: Type.Literal("none", { description: "Nothing is asked about the make of the authenticator." }),
        },
        { description: "For `PublicKeyCredential.parseCreationOptionsFromJSON`." },
      ),
    },
    { description: "What a browser needs to create a passkey." },
  ),
);
export type PasskeyCreation = TypeOf<typeof PasskeyCreation>;

const PasskeyRequest = schema(
  Type.Object(
    {
      object: Type.Literal("passkey_request", { description: "Always `passkey_request`." }),
      public_key: Type.Object(
        { challenge, rpId: shown("The host name of this server."), timeout, userVerification },
        { description: "For `PublicKeyCredential.parseRequestOptionsFromJSON`." },
      ),
    },
    { description: "What a browser needs to sign in with a passkey." },
  ),
);
export type PasskeyRequest = TypeOf<typeof PasskeyRequest>;

const Passkey = Type.Object(
  {
    object: Type.Literal("passkey", { description: "Always `passkey`." }),
    id: shown("Identifier of the passkey."),
    name: shown("Name that the person gave it."),
    rp_id: shown("The host name with which it works."),
    backed_up: Type.Boolean({ description: "Whether it was synchronized to other devices when it was last used." }),
    created_at: Type.Integer({ description: "Creation, UNIX seconds." }),
    last_used_at: nullable(Type.Integer(), "When somebody last signed in with it, UNIX seconds; null if never."),
  },
  { description: "A passkey: a key on a device of the person, with which they sign in." },
);
const PasskeySchema = schema(Passkey);
export type Passkey = TypeOf<typeof PasskeySchema>;

const PasskeyList = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(Passkey, { description: "The passkeys, the oldest first." }),
    },
    { description: "The passkeys of a person." },
  ),
);

const NewPasskey = schema(
  Type.Object(
    {
      name: passkeyName,
      credential: Type.Object(
        {
          ...credentialMembers,
          response: Type.Object({
            clientDataJSON,
            attestationObject: base64url(8192, "The new public key"),
            transports: Type.Optional(
              Type.Array(text(32, "A transport, such as `internal`."), {
                maxItems: 10,
                description: "How browsers reach the authenticator.",
              }),
            ),
          }),
        },
        { description: "The result of `navigator.credentials.create()` as JSON. Other members are ignored." },
      ),
    },
    { ...strict, description: "A new passkey." },
  ),
);
export type NewPasskey = TypeOf<typeof NewPasskey>;

const PasskeyChange = schema(Type.Object({ name: passkeyName }, { ...strict, description: "Changes of a passkey." }));
export type PasskeyChange = TypeOf<typeof PasskeyChange>;

const PasskeySignIn = schema(
  Type.Object(
    {
      credential: Type.Object(
        {
          ...credentialMembers,
          response: Type.Object({
            clientDataJSON,
            authenticatorData: base64url(2048, "What the authenticator says"),
            signature: base64url(2048, "The signature"),
            userHandle: base64url(128, "Identifier of the person, as when the passkey was created"),
          }),
        },
        { description: "The result of `navigator.credentials.get()` as JSON. Other members are ignored." },
      ),
    },
    { ...strict, description: "A signature of a passkey to exchange for a session." },
  ),
);
export type PasskeySignIn = TypeOf<typeof PasskeySignIn>;

export const createPasskeyChallengeOperation = operation({
  ...anyone,
  id: "createPasskeyChallenge",
  method: "POST",
  path: "/authentication/passkey_challenges",
  summary: "Begin to sign in with a passkey",
  description: "The challenge can be used once, for five minutes.",
  answer: { status: 201, type: "application/json", schema: PasskeyRequest, description: "Options for the browser." },
});

export const createPasskeySessionOperation = operation({
  ...anyone,
  id: "createPasskeySession",
  method: "POST",
  path: "/authentication/passkey_sessions",
  summary: "Sign in with a passkey",
  description:
    "A passkey replaces the password and the one-time code. An unknown passkey and a wrong signature have the same answer, 401 `invalid_credentials`.",
  body: PasskeySignIn,
  answer: sessionAnswer,
});

export const listPasskeysOperation = operation({
  ...own,
  id: "listPasskeys",
  method: "GET",
  path: root,
  summary: "List the own passkeys",
  answer: { type: "application/json", schema: PasskeyList, description: "All of them." },
});

export const getPasskeyOperation = operation({
  ...own,
  id: "getPasskey",
  method: "GET",
  path: `${root}/{passkey_id}`,
  pathParameters,
  summary: "Show a passkey of the own",
  answer: { type: "application/json", schema: PasskeySchema, description: "The passkey." },
});

export const createPasskeyOptionsOperation = operation({
  ...own,
  id: "createPasskeyOptions",
  method: "POST",
  path: "/authentication/account/passkey_options",
  summary: "Begin to add a passkey to the own account",
  description: "Requires the session of a person, which has to finish it within five minutes.",
  body: PasswordProof,
  answer: { status: 201, type: "application/json", schema: PasskeyCreation, description: "Options for the browser." },
});

export const createPasskeyOperation = operation({
  ...own,
  id: "createPasskey",
  method: "POST",
  path: root,
  summary: "Add a passkey to the own account",
  body: NewPasskey,
  answer: { status: 201, type: "application/json", schema: PasskeySchema, description: "The new passkey." },
});

export const updatePasskeyOperation = operation({
  ...own,
  id: "updatePasskey",
  method: "PATCH",
  path: `${root}/{passkey_id}`,
  pathParameters,
  summary: "Rename a passkey of the own",
  body: PasskeyChange,
  answer: { type: "application/json", schema: PasskeySchema, description: "The passkey." },
});

export const removePasskeyOperation = operation({
  ...own,
  id: "removePasskey",
  method: "POST",
  path: `${root}/{passkey_id}/remove`,
  pathParameters,
  summary: "Remove a passkey of the own",
  body: PasswordProof,
  answer: { type: "application/json", schema: PasskeyList, description: "Those that are left." },
});

export const passkeyOperations = [
  createPasskeyChallengeOperation,
  createPasskeySessionOperation,
  listPasskeysOperation,
  getPasskeyOperation,
  createPasskeyOptionsOperation,
  createPasskeyOperation,
  updatePasskeyOperation,
  removePasskeyOperation,
];
