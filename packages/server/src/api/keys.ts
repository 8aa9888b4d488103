/** The objects of the admin API for API keys. */
import { Type } from "typebox";
import { keyPermissions, permissions } from "../permissions.ts";
import {
  allowedModels,
  id,
  identifierPattern,
  limitChanges,
  limits,
  name,
  nullable,
  organizationChoice,
  page,
  strict,
  time,
} from "./admin.ts";
import { schema, type TypeOf } from "./schema.ts";

/** The members of a key without its secret. */
export const recordContent = Type.Boolean({
  description:
    "False: prompts and answers of the key's calls are not recorded, whatever the settings of the project are. True: the project decides.",
});

export const keyMembers = {
  object: Type.Literal("key", { description: "Always `key`." }),
  id: id("key"),
  organization_id: id("organization"),
  project_id: nullable(
    Type.String(),
    "Identifier of the project that the key is bound to; null if it is not bound to one.",
  ),
  name: name("key"),
  redacted_secret: Type.String({ description: "First and last characters of the secret, to recognize the key by." }),
  permissions: Type.Array(Type.Enum([...permissions]), {
    description: "The key's permissions; empty if it has a role.",
  }),
  role: nullable(
    Type.String(),
    "The key's role instead of permissions: a built-in one, or the identifier of one of the organization's; null if it has permissions.",
  ),
  person_id: nullable(Type.String(), "Whose personal key it is; null for a key of a service."),
  limits,
  allowed_models: allowedModels,
  record_content: recordContent,
  operator: Type.Boolean({ description: "Whether the key may administer all organizations (an operator key)." }),
  created_at: time("Creation"),
  expires_at: nullable(Type.Integer(), "When the key expires, UNIX seconds; null if never."),
  revoked_at: nullable(Type.Integer(), "When it was revoked, UNIX seconds; null if it was not."),
  last_used_at: nullable(Type.Integer(), "When it was last used, UNIX seconds, to the minute; null if never."),
};

export const Key = schema(Type.Object(keyMembers, { description: "An API key without its secret." }));
export type Key = TypeOf<typeof Key>;

export const KeyWithSecret = schema(
  Type.Object(
    { ...keyMembers, secret: Type.String({ description: "The API key itself, returned only in this response." }) },
    { description: "A new API key with its secret." },
  ),
);
export type KeyWithSecret = TypeOf<typeof KeyWithSecret>;

export const expiry = nullable(
  Type.Integer({ minimum: 0, maximum: 253_402_300_799 }),
  "When the key expires, UNIX seconds; null: never.",
);

export const KeyCreate = schema(
  Type.Object(
    {
      organization_id: organizationChoice,
      project_id: Type.Optional(
        nullable(
          Type.String({ pattern: identifierPattern, maxLength: 64 }),
          "Project to bind the key to. Absent or null: not bound to a project.",
        ),
      ),
      name: name("key"),
      permissions: Type.Optional(
        Type.Array(Type.Enum([...keyPermissions]), {
          minItems: 1,
          maxItems: keyPermissions.length,
          description:
            "The key's permissions. Absent: inference, telemetry_write and telemetry_read. For a key, telemetry_read includes content_read.",
        }),
      ),
      role: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 128,
          description:
            "A role instead of permissions: a built-in one (except owner), or the name or identifier of one of the organization's. Changes to the role apply to the key.",
        }),
      ),
      limits: Type.Optional(limitChanges),
      allowed_models: Type.Optional(allowedModels),
      record_content: Type.Optional(recordContent),
      operator: Type.Optional(
        Type.Boolean({
          description:
            "Whether the key may administer all organizations (an operator key); requires the permission `admin`.",
        }),
      ),
      expires_at: Type.Optional(expiry),
    },
    { ...strict, description: "A new API key." },
  ),
);
export type KeyCreate = TypeOf<typeof KeyCreate>;

export const KeyUpdate = schema(
  Type.Object(
    {
      name: Type.Optional(name("key")),
      limits: Type.Optional(limitChanges),
      allowed_models: Type.Optional(allowedModels),
      record_content: Type.Optional(recordContent),
      expires_at: Type.Optional(expiry),
    },
    { ...strict, description: "Changes to a key. Permissions cannot change; create another key instead." },
  ),
);
export type KeyUpdate = TypeOf<typeof KeyUpdate>;

export const KeyPage = page(Key.json, "keys");
