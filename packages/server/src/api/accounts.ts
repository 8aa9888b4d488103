/** The operations of local accounts: signing in with a password, and what a person changes about it. */
import { Type } from "typebox";
import { inputLimit } from "../input-limits.ts";
import { strict, time } from "./admin.ts";
import { adminBodyBytes, operation } from "./operation.ts";
import { email, personName } from "./people.ts";
import { schema, type TypeOf } from "./schema.ts";
import { Session } from "./sessions.ts";

/** Without limits, which errors would show with a part of the password: see `sign-in/password-rules.ts`. */
const password = (description: string) => Type.String({ description });
const newPassword = password("The new password: 12 to 128 characters, of any kind. The commonest ones are refused.");
export const currentPassword = password("The person's current password.");

export const accountBodyBytes = inputLimit({
  area: "Administration",
  bounds: "Body of a request with a password",
  value: 16_384,
  unit: "bytes",
  error: "payload_too_large",
});
const accounts = { tag: "Sessions", maxBodyBytes: accountBodyBytes } as const;
const anyone = { ...accounts, permission: "none" } as const;
const own = { ...accounts, permission: "any" } as const;
export const sessionAnswer = {
  status: 201,
  type: "application/json",
  schema: Session,
  description: "The session; `Set-Cookie` has its cookie.",
};

export const PasswordSignIn = schema(
  Type.Object(
    {
      email,
      password: password("The person's password."),
      code: Type.Optional(
        Type.String({
          description:
            "A one-time code of the person's authenticator app, or a recovery code. Required once the person set it up.",
        }),
      ),
    },
    { ...strict, description: "A mail address and a password to exchange for a session." },
  ),
);
export type PasswordSignIn = TypeOf<typeof PasswordSignIn>;

export const createAccountSessionOperation = operation({
  ...anyone,
  id: "createAccountSession",
  method: "POST",
  path: "/authentication/account_sessions",
  summary: "Sign in with a mail address and a password",
  description:
    "An unknown address, a wrong password and a wrong code have the same answer, 401 `invalid_credentials`. After several failures, each further one doubles a delay, during which the answer is 429.",
  body: PasswordSignIn,
  answer: sessionAnswer,
});

const LinkAcceptance = schema(
  Type.Object(
    {
      token: Type.String({ minLength: 1, maxLength: 256, description: "The token of the link." }),
      password: newPassword,
      name: Type.Optional(personName),
    },
    { ...strict, description: "A link of an operator, and the password that the person chose." },
  ),
);
export type LinkAcceptance = TypeOf<typeof LinkAcceptance>;

export const acceptAccountLinkOperation = operation({
  ...anyone,
  id: "acceptAccountLink",
  method: "POST",
  path: "/authentication/account_links",
  summary: "Choose a password with a link of an operator, and sign in",
  description:
    "A link works once. It replaces the account's password, removes its one-time codes and passkeys, and ends all sessions of the person.",
  body: LinkAcceptance,
  answer: sessionAnswer,
});

const Account = schema(
  Type.Object(
    {
      object: Type.Literal("account", { description: "Always `account`." }),
      person_id: Type.String({ description: "Identifier of the person." }),
      email: Type.String({ description: "Mail address of the person." }),
      password: Type.Boolean({ description: "Whether the person can sign in with a password." }),
      one_time_codes: Type.Boolean({ description: "Whether signing in with the password needs a one-time code." }),
      recovery_codes: Type.Integer({ description: "Recovery codes that are left." }),
    },
    { description: "How a person signs in to this server." },
  ),
);
export type Account = TypeOf<typeof Account>;

const accountAnswer = { type: "application/json", schema: Account, description: "The account." };

export const getAccountOperation = operation({
  ...own,
  id: "getAccount",
  method: "GET",
  path: "/authentication/account",
  summary: "Show how the signed-in person signs in",
  answer: accountAnswer,
});

const PasswordChange = schema(
  Type.Object(
    { current_password: currentPassword, password: newPassword },
    { ...strict, description: "A new password." },
  ),
);

export const changePasswordOperation = operation({
  ...own,
  id: "changePassword",
  method: "POST",
  path: "/authentication/account/password",
  summary: "Change the own password",
  description: "Requires the session of a person. Ends the person's other sessions.",
  body: PasswordChange,
  answer: accountAnswer,
});

const OneTimeCodes = schema(
  Type.Object(
    {
      current_password: currentPassword,
      secret: Type.String({
        pattern: "^[A-Z2-7]{32}$",
        maxLength: 32,
        description: "160 random bits in base32, which the authenticator app has as well.",
      }),
      code: Type.String({ pattern: "^\\d{6}$", maxLength: 6, description: "The app's current code." }),
    },
    { ...strict, description: "The secret of an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds)." },
  ),
);

const RecoveryCodes = schema(
  Type.Object(
    {
      object: Type.Literal("recovery_codes", { description: "Always `recovery_codes`." }),
      codes: Type.Array(Type.String(), {
        description: "Codes of which each works once instead of a one-time code. They are shown only here.",
      }),
    },
    { description: "Recovery codes." },
  ),
);
export type RecoveryCodes = TypeOf<typeof RecoveryCodes>;

const recoveryAnswer = {
  status: 201,
  type: "application/json",
  schema: RecoveryCodes,
  description: "New recovery codes.",
};

export const addOneTimeCodesOperation = operation({
  ...own,
  id: "addOneTimeCodes",
  method: "POST",
  path: "/authentication/account/one_time_codes",
  summary: "Require one-time codes for the own account",
  description:
    "Requires the session of a person. Replaces the secret and the recovery codes before, and ends other sessions.",
  body: OneTimeCodes,
  answer: recoveryAnswer,
});

export const PasswordProof = schema(
  Type.Object({ current_password: currentPassword }, { ...strict, description: "Proof that it is the person." }),
);

export const removeOneTimeCodesOperation = operation({
  ...own,
  id: "removeOneTimeCodes",
  method: "POST",
  path: "/authentication/account/one_time_codes/remove",
  summary: "Stop requiring one-time codes for the own account",
  body: PasswordProof,
  answer: accountAnswer,
});

export const createRecoveryCodesOperation = operation({
  ...own,
  id: "createRecoveryCodes",
  method: "POST",
  path: "/authentication/account/recovery_codes",
  summary: "Replace the own recovery codes",
  body: PasswordProof,
  answer: recoveryAnswer,
});

const AccountLink = schema(
  Type.Object(
    {
      object: Type.Literal("account_link", { description: "Always `account_link`." }),
      person_id: Type.String({ description: "Identifier of the person." }),
      email: Type.String({ description: "Mail address of the person." }),
      url: Type.String({ description: "The link, for the person only: anyone who has it becomes the person." }),
      token: Type.String({ description: "The token in the link." }),
      expires_at: time("When the link expires"),
    },
    { description: "A link with which a person chooses a password, once." },
  ),
);
export type AccountLink = TypeOf<typeof AccountLink>;

export const createAccountLinkOperation = operation({
  id: "createAccountLink",
  method: "POST",
  tag: "People",
  permission: "admin",
  operator: true,
  maxBodyBytes: adminBodyBytes,
  path: "/admin/v1/people/{person_id}/account_link",
  pathParameters: { person_id: "Identifier of the person." },
  summary: "Create a link with which a person chooses a password: an invitation, or a reset",
  description:
    "Requires an operator, because people belong to the whole installation. The link works once and for three days, and replaces the one before. Sounding sends no mail: give it to the person.",
  answer: { status: 201, type: "application/json", schema: AccountLink, description: "The link." },
});

export const accountOperations = [
  createAccountSessionOperation,
  acceptAccountLinkOperation,
  getAccountOperation,
  changePasswordOperation,
  addOneTimeCodesOperation,
  removeOneTimeCodesOperation,
  createRecoveryCodesOperation,
  createAccountLinkOperation,
];
