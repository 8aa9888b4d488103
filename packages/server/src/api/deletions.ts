/** The operations of the admin API that delete data, and their receipts. */
import { Type, type Static, type TSchema } from "typebox";
import { conversationId, timeParameter } from "./observability.ts";
import { adminBodyBytes, operation, type Operation } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

const administration = { tag: "Administration", permission: "admin", maxBodyBytes: adminBodyBytes } as const;
const reading = { ...administration, permission: "configuration_read" } as const;
const root = "/admin/v1";

export const deletionKinds = ["telemetry", "project", "organization", "retention"] as const;
const statuses = ["dry_run", "pending", "running", "failed", "done"] as const;

function nullable<S extends TSchema>(inner: S, description: string) {
  return Type.Union([inner, Type.Null()], { description });
}
const time = (what: string) => nullable(Type.Integer(), `${what}, UNIX seconds; null if that has not happened.`);

const count = (what: string) => Type.Optional(Type.Integer({ description: `Number of ${what}.` }));

/** Rows by table of the telemetry store. Rows that only describe others are not counted. */
const rows = Type.Object(
  {
    spans: count("spans"),
    span_details: count("spans with events, links or large attributes"),
    logs: count("log records"),
    series: count("series of metrics"),
    points: count("points of gauges and sums"),
    distribution_points: count("points of histograms and summaries"),
    exemplars: count("exemplars"),
  },
  { description: "Number of deleted rows by table of the telemetry store." },
);
export type DeletedRows = Static<typeof rows>;
export type CountedTable = keyof DeletedRows;

const deletion = Type.Object(
  {
    object: Type.Literal("deletion", { description: "Always `deletion`." }),
    id: nullable(Type.String(), "Identifier of the deletion; null for a dry run."),
    kind: Type.Enum([...deletionKinds], {
      description:
        "`telemetry`: selected telemetry; `project` and `organization`: a project or an organization with its telemetry; `retention`: telemetry that a shorter retention no longer covers.",
    }),
    organization_id: Type.String({ description: "Identifier of the organization." }),
    project_id: nullable(Type.String(), "Identifier of the deleted project; null for other kinds."),
    project_name: nullable(Type.String(), "The project; null if all."),
    conversation_sha256: nullable(
      Type.String(),
      "SHA-256 of the conversation's ID, in hex; null if none was given. The ID itself is not stored.",
    ),
    end_user_sha256: nullable(
      Type.String(),
      "SHA-256 of the end user's ID, in hex; null if none was given. The ID itself is not stored.",
    ),
    start: nullable(
      Type.String(),
      "Start of the time range, inclusive, in nanoseconds since 1970; null if it has none.",
    ),
    end: nullable(Type.String(), "End of the time range, exclusive, in nanoseconds since 1970; null if it has none."),
    retention_days: nullable(Type.Integer(), "The project's new retention in days; null for other kinds."),
    requested_by: Type.String({ description: "Identifier of the key that asked for it." }),
    status: Type.Enum([...statuses], {
      description:
        "`pending`, `running`, `done`, or `failed`: the last attempt failed, `error` says why, and the server tries again at `retry_at`. `dry_run`: nothing is deleted.",
    }),
    rows,
    error: nullable(Type.String(), "Why the last attempt failed; null if it did not."),
    created_at: Type.Integer({ description: "When it was requested, UNIX seconds." }),
    started_at: time("When it began"),
    hidden_at: time("Since when queries no longer return the rows"),
    erased_at: time("Since when no file of the store has the rows"),
    retry_at: time("When the next attempt begins"),
  },
  { description: "A deletion and its receipt. It has no content of what was deleted." },
);
export const Deletion = schema(deletion);
export type Deletion = TypeOf<typeof Deletion>;

export const DeletionCreate = schema(
  Type.Object(
    {
      organization_id: Type.String({
        minLength: 1,
        maxLength: 128,
        description: "Identifier or name of the organization. Alone, it selects all telemetry of the organization.",
      }),
      project_name: optional(Type.String({ minLength: 1, maxLength: 256 }), "Only telemetry of this project."),
      conversation_id: optional(
        conversationId,
        "Only this conversation: every trace with a span of it (`gen_ai.conversation.id`, `session.id`), and log records and series that name it.",
      ),
      end_user_id: optional(
        Type.String({ minLength: 1, maxLength: 1024 }),
        "Only this end user: every trace with a span whose attributes or resource name the user (`user.id`, `enduser.id`), and log records and series that do. Not together with `conversation_id`.",
      ),
      start: timeParameter(
        "Only telemetry of this time or later: an RFC 3339 time, or a UNIX time in nanoseconds as a string.",
      ),
      end: timeParameter(
        "Only telemetry before this time: an RFC 3339 time, or a UNIX time in nanoseconds as a string.",
      ),
      dry_run: optional(Type.Boolean(), "Count the rows and delete nothing."),
    },
    { additionalProperties: false, description: "Which telemetry to delete. All conditions must hold." },
  ),
);
export type DeletionCreate = TypeOf<typeof DeletionCreate>;

export const DeletionPage = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(deletion, { description: "The deletions, oldest first unless `order` is `desc`." }),
      has_more: Type.Boolean({ description: "Whether there are more pages." }),
      last_id: nullable(Type.String(), "Identifier of the last item; send it as `after` to get the next page."),
    },
    { description: "A page of deletions." },
  ),
);

const accepted = {
  type: "application/json",
  schema: Deletion,
  description: "The deletion, which has begun.",
  status: 202,
};
const permanent =
  "It cannot be undone. The server deletes in the background; `GET /admin/v1/deletions/{deletion_id}` shows the progress and, at the end, the receipt.";

export const createDeletionOperation = operation({
  ...administration,
  id: "createDeletion",
  method: "POST",
  path: `${root}/deletions`,
  summary: "Delete telemetry",
  description: `Deletes all telemetry of an organization that was received before, or what the conditions select. ${permanent} With \`dry_run\`, the response (status 200) has the number of rows.`,
  body: DeletionCreate,
  answer: accepted,
  example: { organization_id: "acme", conversation_id: "conv_5j66UpCpwteGg4YSxUnt7lPY", dry_run: true },
});

export const listDeletionsOperation = operation({
  ...reading,
  id: "listDeletions",
  method: "GET",
  path: `${root}/deletions`,
  summary: "List deletions",
  description: "Receipts are kept, also those of organizations that no longer exist.",
  queryParameters: {
    limit: "Page size, 1 to 100; default 20.",
    after: "Identifier that the page starts after: `last_id` of the previous page.",
    order: "`asc` (default): oldest first; `desc`: newest first.",
    organization_id:
      "Identifier or name of the organization. Absent: the caller's own, or all organizations for an operator key.",
  },
  answer: { type: "application/json", schema: DeletionPage, description: "A page of deletions." },
});

export const getDeletionOperation = operation({
  ...reading,
  id: "getDeletion",
  method: "GET",
  path: `${root}/deletions/{deletion_id}`,
  pathParameters: { deletion_id: "Identifier of the deletion." },
  summary: "Show a deletion",
  answer: { type: "application/json", schema: Deletion, description: "The deletion." },
});

export const deleteProjectOperation = operation({
  ...administration,
  id: "deleteProject",
  method: "DELETE",
  path: `${root}/projects/{project_id}`,
  pathParameters: { project_id: "Identifier of the project." },
  summary: "Delete a project with its keys and telemetry",
  description: `Revokes the keys that are bound to the project at once. ${permanent}`,
  answer: accepted,
});

export const deleteOrganizationOperation = operation({
  ...administration,
  id: "deleteOrganization",
  operator: true,
  method: "DELETE",
  path: `${root}/organizations/{organization_id}`,
  pathParameters: { organization_id: "Identifier of the organization." },
  summary: "Delete an organization with everything that it has",
  description: `Requires an operator key. Revokes the organization's keys at once. ${permanent}`,
  answer: accepted,
});

export const deletionOperations: readonly Operation[] = [
  createDeletionOperation,
  listDeletionsOperation,
  getDeletionOperation,
  deleteProjectOperation,
  deleteOrganizationOperation,
];
