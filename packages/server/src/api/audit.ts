/** The operations that show and verify the audit log. */
import { Type, type TSchema } from "typebox";
import { operation, type Operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const administration = { tag: "Administration", permission: "admin" } as const;
const root = "/admin/v1/audit";

export const auditOutcomes = ["done", "refused", "failed"] as const;
export const actorKinds = ["key", "person", "token", "local", "system", "anonymous"] as const;

function nullable<S extends TSchema>(inner: S, description: string) {
  return Type.Union([inner, Type.Null()], { description });
}
const state = (when: string) =>
  nullable(
    Type.Record(Type.String(), Type.Unknown()),
    `The object ${when} the change, as the API shows it; null if it did not exist. Larger than 16 KiB: only \`sha256\` and \`bytes\`.`,
  );

const event = Type.Object(
  {
    object: Type.Literal("audit_event", { description: "Always `audit_event`." }),
    id: Type.String({ description: "Identifier of the entry." }),
    created_at: Type.Integer({ description: "When it was written, UNIX seconds." }),
    actor: Type.Object(
      {
        kind: Type.Enum([...actorKinds], {
          description:
            "`key`: an API key; `person`, `token`: a signed-in person, a token of an identity provider; `local`: a person with access to the control database; `system`: the server; `anonymous`: a caller that was not known.",
        }),
        id: nullable(Type.String(), "Identifier of the key or the person; null for another organization's."),
        name: nullable(Type.String(), "Its name; `operator` for another organization's."),
      },
      { description: "Who acted." },
    ),
    organization_id: nullable(
      Type.String(),
      "The organization that the entry concerns; null: none, so only operators see it.",
    ),
    address: nullable(Type.String(), "The client's IP address, as far as trusted proxies report it."),
    user_agent: nullable(Type.String(), "The client's `User-Agent`, at most 256 characters."),
    action: Type.String({ description: "Name of the operation, such as `updateKey`." }),
    target: Type.Object(
      {
        kind: nullable(Type.String(), "What it is, such as `key` or `conversation`."),
        id: nullable(Type.String(), "Its identifier."),
        name: nullable(Type.String(), "Its name at that time."),
      },
      { description: "What was acted upon." },
    ),
    outcome: Type.Enum([...auditOutcomes], {
      description: "`done`; `refused`: the request was not allowed or not valid; `failed`: the server could not do it.",
    }),
    code: nullable(Type.String(), "The code of the error."),
    count: Type.Integer({ description: "How many requests the entry stands for." }),
    before: state("before"),
    after: state("after"),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: "More, such as the ID of the request and of the session.",
    }),
    sequence: nullable(Type.Integer(), "Place in the chain; only for operators."),
    hash: nullable(Type.String(), "SHA-256 of the entry and of the hash before it, in hex; only for operators."),
  },
  { description: "An entry of the audit log." },
);
export const AuditEvent = schema(event);
export type AuditEvent = TypeOf<typeof AuditEvent>;

const AuditPage = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(event, { description: "The entries, oldest first unless `order` is `desc`." }),
      has_more: Type.Boolean({ description: "Whether there are more pages." }),
      last_id: nullable(Type.String(), "Identifier of the last item; send it as `after` to get the next page."),
    },
    { description: "A page of the audit log." },
  ),
);

export const listAuditEvents = operation({
  ...administration,
  id: "listAuditEvents",
  method: "GET",
  path: root,
  summary: "List the audit log",
  description: "Operators see all entries; other administrators see those that concern their organization.",
  queryParameters: {
    limit: "Page size, 1 to 100; default 20.",
    after: "Identifier that the page starts after: `last_id` of the previous page.",
    order: "`asc` (default): oldest first; `desc`: newest first.",
    organization_id:
      "Identifier or name of the organization. Absent: the caller's own, or all organizations for an operator key.",
    actor: "Only acts of this actor: identifier or name.",
    action: "Only this operation, such as `updateKey`.",
    target: "Only acts upon this object: identifier, name or kind.",
    outcome: "Only entries with this outcome: `done`, `refused` or `failed`.",
    start: "Only entries of this RFC 3339 time or later.",
    end: "Only entries before this RFC 3339 time.",
  },
  answer: { type: "application/json", schema: AuditPage, description: "A page of entries." },
});

const problem = Type.Object(
  {
    kind: Type.Enum(["changed", "missing", "unlinked", "start", "end", "anchor"], {
      description:
        "`changed`: the entry is not what was written; `missing`: entries are missing before this one; `unlinked`: the entry does not follow the one before it; `start`: the oldest entry does not follow the last pruned one; `end`: the newest entry is not the last that was written; `anchor`: the entry does not have the expected hash.",
    }),
    sequence: Type.Integer({ description: "Place in the chain." }),
    message: Type.String({ description: "What is wrong." }),
  },
  { description: "A place where the log is not what was written." },
);

export const AuditVerification = schema(
  Type.Object(
    {
      object: Type.Literal("audit_verification", { description: "Always `audit_verification`." }),
      valid: Type.Boolean({ description: "Whether no problem was found." }),
      entries: Type.Integer({ description: "Number of entries that were checked." }),
      first_sequence: nullable(Type.Integer(), "The oldest entry; null if the log is empty."),
      last_sequence: Type.Integer({ description: "The newest entry; 0 if there never was one." }),
      last_hash: Type.String({
        description: "Its hash. Keep `last_sequence:last_hash` elsewhere, and send it as `anchor` next time.",
      }),
      problems: Type.Array(problem, { description: "The first 100 problems." }),
    },
    { description: "Whether the audit log is complete and unchanged." },
  ),
);
export type AuditVerification = TypeOf<typeof AuditVerification>;

export const verifyAudit = operation({
  ...administration,
  id: "verifyAudit",
  operator: true,
  method: "GET",
  path: `${root}/verification`,
  summary: "Verify the audit log",
  description:
    "Requires an operator key. Reads the whole log and checks the hash of each entry, and that each follows the one before.",
  queryParameters: {
    anchor: "`SEQUENCE:HASH` of an entry that was noted elsewhere. The log is not valid unless it has the entry.",
  },
  answer: { type: "application/json", schema: AuditVerification, description: "The result." },
});

export const auditOperations: readonly Operation[] = [listAuditEvents, verifyAudit];
