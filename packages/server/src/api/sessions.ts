/** The operations with which the web console signs in and out. A session is a cookie that stands for an API key. */
import { Type } from "typebox";
import { permissions } from "../permissions.ts";
import { adminBodyBytes, operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const secret = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }));
const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const SignIn = schema(
  Type.Object(
    {
      key: secret("An API key, or an operator key."),
      operator_key: secret("An operator key, which requests to the admin API use instead of `key`."),
      code: secret("A sign-in code, instead of keys."),
    },
    { additionalProperties: false, description: "Keys, or a sign-in code, to exchange for a session." },
  ),
);
export type SignIn = TypeOf<typeof SignIn>;

export const Session = schema(
  Type.Object(
    {
      object: Type.Literal("session", { description: "Always `session`." }),
      id: Type.String({ description: "Identifier of the session." }),
      organization_id: Type.String({ description: "Identifier of the API key's organization." }),
      organization: Type.String({ description: "Name of the API key's organization." }),
      project: nullable("The project that the API key is bound to, if any."),
      person: Type.Union(
        [
          Type.Object({
            id: Type.String({ description: "Identifier of the person." }),
            name: Type.String({ description: "Name of the person." }),
            email: Type.String({ description: "E-mail address of the person." }),
          }),
          Type.Null(),
        ],
        { description: "The person who is signed in; null if the session was opened with keys." },
      ),
      role: nullable("The person's roles in the organization; null if the session was opened with keys."),
      provider: nullable("The identity provider at which the person signed in, if any."),
      organizations: Type.Array(
        Type.Object({
          id: Type.String({ description: "Identifier of the organization." }),
          name: Type.String({ description: "Name of the organization." }),
        }),
        { description: "The organizations of which the person is a member; for keys, the key's." },
      ),
      key_id: Type.String({ description: "Identifier of the API key; of the person, if no key was used." }),
      key_name: Type.String({ description: "Name of the API key; the person's e-mail address, if no key was used." }),
      operator_key_id: nullable("Identifier of the separate key for the admin API, if any."),
      operator_key_name: nullable("Name of the separate key for the admin API, if any."),
      operator: Type.Boolean({ description: "Whether the session may administer all organizations." }),
      permissions: Type.Array(Type.Enum([...permissions]), { description: "The permissions of both keys." }),
      expires_at: Type.Integer({
        description:
          "When the session or one of its keys expires, UNIX seconds. A session that is not used for 7 days expires earlier.",
      }),
    },
    { description: "A session: who is signed in." },
  ),
);
export type Session = TypeOf<typeof Session>;

const signingIn = { tag: "Sessions", maxBodyBytes: adminBodyBytes } as const;

export const createSessionOperation = operation({
  ...signingIn,
  id: "createSession",
  method: "POST",
  path: "/authentication/sessions",
  summary: "Sign in: exchange a key or a sign-in code for a session cookie",
  description:
    "The cookie authenticates requests of this server's own pages only, with the permissions and limits of the keys. Revoking a key ends its sessions. Requests with an API key ignore the cookie.",
  permission: "none",
  body: SignIn,
  answer: {
    status: 201,
    type: "application/json",
    schema: Session,
    description: "The session; `Set-Cookie` has its cookie.",
  },
});

export const getSessionOperation = operation({
  ...signingIn,
  id: "getSession",
  method: "GET",
  path: "/authentication/session",
  summary: "Show who is signed in",
  description: "Requires a session cookie; `POST /authentication/validate` shows the owner of an API key.",
  permission: "any",
  answer: { type: "application/json", schema: Session, description: "The session of the request's cookie." },
});

export const deleteSessionOperation = operation({
  ...signingIn,
  id: "deleteSession",
  method: "DELETE",
  path: "/authentication/session",
  summary: "Sign out: end the session",
  description:
    "Requires a session cookie. Takes effect immediately on this server, and within five seconds on other servers that share its database.",
  permission: "any",
  answer: { type: "application/json", schema: Session, description: "The session that has ended." },
});

const SignInCodeCreate = schema(
  Type.Object(
    { operator_key: secret("An operator key for requests to the admin API, in addition to the request's own key.") },
    { additionalProperties: false, description: "The keys of the session that the code will open." },
  ),
);
export type SignInCodeCreate = TypeOf<typeof SignInCodeCreate>;

const SignInCode = schema(
  Type.Object(
    {
      object: Type.Literal("sign_in_code", { description: "Always `sign_in_code`." }),
      code: Type.String({ description: "The code, which works once." }),
      url: Type.String({ description: "A link to the web console that signs in with the code." }),
      expires_at: Type.Integer({
        description: "When the code expires, UNIX seconds: five minutes after its creation.",
      }),
    },
    { description: "A single-use code to sign in to the web console." },
  ),
);

export const createSignInCodeOperation = operation({
  ...signingIn,
  id: "createSignInCode",
  method: "POST",
  path: "/authentication/sign_in_codes",
  summary: "Create a single-use code to sign in to the web console",
  description:
    "Requires an API key; a session cannot create codes. The link has the code in its fragment, which browsers send to no server.",
  permission: "any",
  body: SignInCodeCreate,
  answer: { status: 201, type: "application/json", schema: SignInCode, description: "The code." },
  example: {},
});

export const sessionOperations = [
  createSessionOperation,
  getSessionOperation,
  deleteSessionOperation,
  createSignInCodeOperation,
];
