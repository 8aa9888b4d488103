/** The operations with which people keep API keys of their own. */
import { Type } from "typebox";
import { keyPermissions } from "../permissions.ts";
import { allowedModels, identifierPattern, name, nullable, strict } from "./admin.ts";
import { paging } from "./admin-operations.ts";
import { expiry, Key, KeyPage, KeyWithSecret, recordContent } from "./keys.ts";
import { adminBodyBytes, operation, type Operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const PersonalKeyCreate = schema(
  Type.Object(
    {
      name: name("key"),
      project_id: Type.Optional(
        nullable(
          Type.String({ pattern: identifierPattern, maxLength: 64 }),
          "Project to bind the key to. Absent or null: the project of the request's role, if it is for one.",
        ),
      ),
      permissions: Type.Optional(
        Type.Array(Type.Enum([...keyPermissions]), {
          minItems: 1,
          maxItems: keyPermissions.length,
          description:
            "The key's permissions, which the person must have. Absent: those of inference, telemetry_write and telemetry_read that the person has.",
        }),
      ),
      allowed_models: Type.Optional(allowedModels),
      record_content: Type.Optional(recordContent),
      expires_at: Type.Optional(expiry),
    },
    { ...strict, description: "A new personal key." },
  ),
);
export type PersonalKeyCreate = TypeOf<typeof PersonalKeyCreate>;

const personal = { tag: "People", permission: "personal_keys", maxBodyBytes: adminBodyBytes } as const;
const root = "/authentication/keys";

export const listPersonalKeysOperation = operation({
  ...personal,
  id: "listPersonalKeys",
  method: "GET",
  path: root,
  summary: "List your own API keys",
  queryParameters: { ...paging, include_revoked: "`true` includes revoked keys." },
  answer: {
    type: "application/json",
    schema: KeyPage,
    description: "A page of the caller's keys in the organization.",
  },
});

export const createPersonalKeyOperation = operation({
  ...personal,
  id: "createPersonalKey",
  method: "POST",
  path: root,
  summary: "Create an API key of your own",
  description:
    "The key never has more permissions than the person has at the time of a request. It is revoked when the person is disabled or leaves the organization. The secret is returned only in this response.",
  body: PersonalKeyCreate,
  answer: { status: 201, type: "application/json", schema: KeyWithSecret, description: "The new key with its secret." },
  example: { name: "laptop" },
});

export const revokePersonalKeyOperation = operation({
  ...personal,
  id: "revokePersonalKey",
  method: "POST",
  path: `${root}/{key_id}/revoke`,
  pathParameters: { key_id: "Identifier of the key." },
  summary: "Revoke an API key of your own",
  answer: { type: "application/json", schema: Key, description: "The revoked key." },
});

export const personalKeyOperations: readonly Operation[] = [
  listPersonalKeysOperation,
  createPersonalKeyOperation,
  revokePersonalKeyOperation,
];
