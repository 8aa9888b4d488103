/** The operations that list and end sessions: a caller's own, and those of an organization. */
import { Type } from "typebox";
import { identifierPattern } from "./admin.ts";
import { adminBodyBytes, operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const SessionEntry = Type.Object(
  {
    object: Type.Literal("session_entry", { description: "Always `session_entry`." }),
    id: Type.String({ description: "Identifier of the session." }),
    kind: Type.Enum(["keys", "browser", "terminal"], {
      description:
        "`keys`: a browser that signed in with keys; `browser`: one in which a person signed in; `terminal`: the command `sounding` after `sounding login`.",
    }),
    person_id: nullable("Identifier of the person; null for `keys`."),
    person: nullable("E-mail address of the person; null for `keys`."),
    key_id: nullable("Identifier of the API key; null unless the kind is `keys`."),
    key_name: nullable("Name of the API key; null unless the kind is `keys`."),
    provider: nullable("The identity provider at which the person signed in, if any."),
    organization_id: nullable("Identifier of the session's organization."),
    client: nullable("What the person uses: the browser's `User-Agent`, or the name of the terminal."),
    address: nullable("Address from which the session was opened."),
    created_at: Type.Integer({ description: "When the session was opened, UNIX seconds." }),
    last_used_at: Type.Integer({ description: "When it was last used, UNIX seconds, to a minute." }),
    expires_at: Type.Integer({ description: "When it ends at the latest, UNIX seconds." }),
    current: Type.Boolean({ description: "Whether it is the session of this request." }),
  },
  { description: "A session in a list." },
);

const SessionEntrySchema = schema(SessionEntry);
export type SessionEntry = TypeOf<typeof SessionEntrySchema>;

const SessionList = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(SessionEntry, { description: "The sessions." }),
    },
    { description: "Sessions." },
  ),
);

const SessionPage = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(SessionEntry, { description: "The sessions." }),
      has_more: Type.Boolean({ description: "Whether more follow." }),
      last_id: nullable("Identifier of the last one; send it as `after` to get the next page."),
    },
    { description: "A page of sessions." },
  ),
);

const own = { tag: "Sessions", permission: "any", maxBodyBytes: adminBodyBytes } as const;
const pathParameters = { session_id: "Identifier of the session." };

export const listSessionsOperation = operation({
  ...own,
  id: "listSessions",
  method: "GET",
  path: "/authentication/sessions",
  summary: "List your own sessions",
  description: "Of the person who is signed in, or of the request's API key. The newest come first.",
  answer: { type: "application/json", schema: SessionList, description: "The sessions." },
});

export const endSessionOperation = operation({
  ...own,
  id: "endSession",
  method: "DELETE",
  path: "/authentication/sessions/{session_id}",
  summary: "End one of your own sessions",
  description: "Takes effect immediately on this server, and within five seconds on others that share its database.",
  pathParameters,
  answer: { type: "application/json", schema: SessionEntrySchema, description: "The session that has ended." },
});

const SessionUpdate = schema(
  Type.Object(
    {
      organization_id: Type.String({
        pattern: identifierPattern,
        maxLength: 64,
        description: "Identifier of an organization of which the person is a member.",
      }),
    },
    { additionalProperties: false, description: "The organization of requests that name none." },
  ),
);

export const updateSessionOperation = operation({
  ...own,
  id: "updateSession",
  method: "PATCH",
  path: "/authentication/session",
  summary: "Change the organization of your session",
  description: "For people who are members of several organizations. A request can name another one by `x-account`.",
  body: SessionUpdate,
  answer: { type: "application/json", schema: SessionEntrySchema, description: "The session." },
});

const administration = { tag: "Administration", permission: "admin", maxBodyBytes: adminBodyBytes } as const;

export const listOrganizationSessionsOperation = operation({
  ...administration,
  id: "listOrganizationSessions",
  method: "GET",
  path: "/admin/v1/sessions",
  summary: "List the sessions of an organization",
  queryParameters: {
    limit: "Page size, 1 to 100; default 20.",
    after: "Identifier that the page starts after: `last_id` of the previous page.",
    organization_id:
      "Identifier or name of the organization. Absent: the caller's own, or all organizations for an operator.",
    person_id: "Only sessions of this person.",
    key_id: "Only sessions with this key.",
  },
  description: "The newest come first.",
  answer: { type: "application/json", schema: SessionPage, description: "A page of sessions." },
});

export const getOrganizationSessionOperation = operation({
  ...administration,
  id: "getOrganizationSession",
  method: "GET",
  path: "/admin/v1/sessions/{session_id}",
  summary: "Show a session of an organization",
  pathParameters,
  answer: { type: "application/json", schema: SessionEntrySchema, description: "The session." },
});

export const endOrganizationSessionOperation = operation({
  ...administration,
  id: "endOrganizationSession",
  method: "DELETE",
  path: "/admin/v1/sessions/{session_id}",
  summary: "End a session of an organization",
  description: "Takes effect immediately on this server, and within five seconds on others that share its database.",
  pathParameters,
  answer: { type: "application/json", schema: SessionEntrySchema, description: "The session that has ended." },
});

export const sessionListOperations = [
  listSessionsOperation,
  endSessionOperation,
  updateSessionOperation,
  listOrganizationSessionsOperation,
  getOrganizationSessionOperation,
  endOrganizationSessionOperation,
];
