/**
 * The objects of the admin API: organizations and projects, and what other objects share with them. Requests are strict: an
 * unknown field is an error. Times are UNIX seconds. A change names only the fields that change; in `limits`, null removes a limit.
 */
import { Type, type TSchema } from "typebox";
import { sensitiveKinds } from "../sensitive-data/kinds.ts";
import { namePattern, type Limits, type ProjectSettings } from "../tenant.ts";
import { schema, type TypeOf } from "./schema.ts";

export const strict = { additionalProperties: false } as const;

/** Identifiers start with a prefix for their kind and sort by creation time. */
export const identifierPattern = "^(org|proj|key|agrp|del|pers|role|memb|aud|bgt|sess)_[0-9a-f]{32}$";

export const name = (whose: string) =>
  Type.String({
    minLength: 1,
    maxLength: 128,
    pattern: namePattern,
    description: `Name of the ${whose}: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit.`,
  });

export function nullable<S extends TSchema>(inner: S, description: string) {
  return Type.Union([inner, Type.Null()], { description });
}

const limitMeanings = {
  requests_per_minute:
    "Requests per minute. Inference, telemetry queries and telemetry exports are counted separately.",
  tokens_per_minute: "Prompt and completion tokens per minute, added together.",
  concurrent_requests:
    "Concurrent requests. Inference, telemetry queries and telemetry exports are counted separately.",
  tokens_per_month: "Prompt and completion tokens per calendar month (UTC), added together.",
  compute_seconds_per_minute:
    "Seconds of compute time per minute, on the server's main thread and in the telemetry store. Telemetry queries and telemetry exports are counted separately.",
} satisfies Record<keyof Limits, string>;

export const limitNames = Object.keys(limitMeanings) as (keyof Limits)[];

const ceiling = (description: string) => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });

export const limits = Type.Object(
  {
    requests_per_minute: Type.Optional(ceiling(limitMeanings.requests_per_minute)),
    tokens_per_minute: Type.Optional(ceiling(limitMeanings.tokens_per_minute)),
    concurrent_requests: Type.Optional(ceiling(limitMeanings.concurrent_requests)),
    tokens_per_month: Type.Optional(ceiling(limitMeanings.tokens_per_month)),
    compute_seconds_per_minute: Type.Optional(ceiling(limitMeanings.compute_seconds_per_minute)),
  },
  { ...strict, description: "Limits. An absent one is not set." },
);

export const limitChanges = Type.Object(
  {
    requests_per_minute: Type.Optional(
      nullable(ceiling(limitMeanings.requests_per_minute), limitMeanings.requests_per_minute),
    ),
    tokens_per_minute: Type.Optional(
      nullable(ceiling(limitMeanings.tokens_per_minute), limitMeanings.tokens_per_minute),
    ),
    concurrent_requests: Type.Optional(
      nullable(ceiling(limitMeanings.concurrent_requests), limitMeanings.concurrent_requests),
    ),
    tokens_per_month: Type.Optional(nullable(ceiling(limitMeanings.tokens_per_month), limitMeanings.tokens_per_month)),
    compute_seconds_per_minute: Type.Optional(
      nullable(ceiling(limitMeanings.compute_seconds_per_minute), limitMeanings.compute_seconds_per_minute),
    ),
  },
  { ...strict, description: "Limits to change: null removes one, absent ones stay unchanged." },
);
export const LimitChanges = schema(limitChanges);
export type LimitChanges = TypeOf<typeof LimitChanges>;

export const allowedModels = nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 512 }), { minItems: 1, maxItems: 1000 }),
  "Patterns of the model IDs that may be called; `*` matches any text. Null: all models.",
);

const settingMembers = {
  retention_days: Type.Integer({
    minimum: 1,
    maximum: 3650,
    description:
      "Retention of the project's telemetry in days, 1 to 3650. A shorter one also deletes existing telemetry that is older, for good.",
  }),
  record_content: Type.Boolean({
    description:
      "Whether prompts and answers are recorded in telemetry. The header `x-record-content: false` of a call leaves its own out.",
  }),
  record_content_percent: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 100,
      description:
        "Share of the calls whose prompts and answers are recorded, in percent, if `record_content` is true. The calls of a conversation are recorded together. Absent: 100.",
    }),
  ),
  redact: Type.Optional(
    Type.Array(Type.Enum([...sensitiveKinds]), {
      maxItems: sensitiveKinds.length,
      uniqueItems: true,
      description:
        "Kinds of data that are replaced in the project's telemetry before it is stored, in addition to those of the server's configuration.",
    }),
  ),
} satisfies Record<keyof ProjectSettings, TSchema>;

const settings = Type.Object(settingMembers, { ...strict, description: "How the project's telemetry is stored." });
const settingChanges = Type.Object(
  {
    retention_days: Type.Optional(settingMembers.retention_days),
    record_content: Type.Optional(settingMembers.record_content),
    record_content_percent: settingMembers.record_content_percent,
    redact: settingMembers.redact,
  },
  { ...strict, description: "Settings to change; absent ones stay unchanged." },
);

export const defaultProjectSettings: ProjectSettings = { retention_days: 30, record_content: false };

export const id = (whose: string) => Type.String({ description: `Identifier of the ${whose}.` });
export const time = (what: string) => Type.Integer({ description: `${what}, UNIX seconds.` });
export const organizationChoice = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 128,
    description: "Identifier or name of the organization. Absent: the caller's own.",
  }),
);

export const Organization = schema(
  Type.Object(
    {
      object: Type.Literal("organization", { description: "Always `organization`." }),
      id: id("organization"),
      name: name("organization"),
      limits,
      allowed_models: allowedModels,
      created_at: time("Creation"),
      archived_at: nullable(Type.Integer(), "When it was archived, UNIX seconds; null if it is in use."),
    },
    { description: "An organization: the tenant that owns keys, projects and data." },
  ),
);
export type Organization = TypeOf<typeof Organization>;

export const OrganizationCreate = schema(
  Type.Object(
    {
      name: name("organization"),
      limits: Type.Optional(limitChanges),
      allowed_models: Type.Optional(allowedModels),
    },
    { ...strict, description: "A new organization. A project named `default` is created in it." },
  ),
);
export type OrganizationCreate = TypeOf<typeof OrganizationCreate>;

export const OrganizationUpdate = schema(
  Type.Object(
    {
      name: Type.Optional(name("organization")),
      limits: Type.Optional(limitChanges),
      allowed_models: Type.Optional(allowedModels),
    },
    { ...strict, description: "Changes to an organization." },
  ),
);
export type OrganizationUpdate = TypeOf<typeof OrganizationUpdate>;

export const Project = schema(
  Type.Object(
    {
      object: Type.Literal("project", { description: "Always `project`." }),
      id: id("project"),
      organization_id: id("organization"),
      name: name("project"),
      settings,
      created_at: time("Creation"),
      archived_at: nullable(Type.Integer(), "When it was archived, UNIX seconds; null if it is in use."),
    },
    { description: "A project groups an organization's telemetry and holds its settings." },
  ),
);
export type Project = TypeOf<typeof Project>;

export const ProjectCreate = schema(
  Type.Object(
    { organization_id: organizationChoice, name: name("project"), settings: Type.Optional(settingChanges) },
    { ...strict, description: "A new project." },
  ),
);
export type ProjectCreate = TypeOf<typeof ProjectCreate>;

export const ProjectUpdate = schema(
  Type.Object(
    { settings: Type.Optional(settingChanges) },
    {
      ...strict,
      description: "Changes to a project. The name cannot change, because stored telemetry refers to it.",
    },
  ),
);
export type ProjectUpdate = TypeOf<typeof ProjectUpdate>;

export function page<S extends TSchema>(item: S, what: string) {
  return schema(
    Type.Object(
      {
        object: Type.Literal("list", { description: "Always `list`." }),
        data: Type.Array(item, { description: `The ${what}, oldest first unless \`order\` is \`desc\`.` }),
        has_more: Type.Boolean({ description: "Whether there are more pages." }),
        last_id: nullable(Type.String(), "Identifier of the last item; send it as `after` to get the next page."),
      },
      { description: `A page of ${what}.` },
    ),
  );
}

export const OrganizationPage = page(Organization.json, "organizations");
export const ProjectPage = page(Project.json, "projects");

/** A page of a list, as on the wire. */
export interface Page<Item> {
  readonly object: "list";
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly last_id: string | null;
}
