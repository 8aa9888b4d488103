/** The requests of the AI Refinery SDK about API keys (`client.governance.api_keys`), next to `POST /authentication/validate`. */
import { Type } from "typebox";
import { sdkRoles } from "./governance.ts";
import { adminBodyBytes, operation, type Operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const text = (description: string) => Type.String({ description });
const secret = Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: "The API key." }));

const info = {
  api_key_id: text("Identifier of the key."),
  organization_id: text("Identifier of the organization."),
  label: text("Name of the key."),
  permission: Type.Enum(["READ_ONLY", "READ_WRITE"], { description: "Whether it may only read." }),
  role: Type.Enum([...sdkRoles], { description: "What comes closest to its permissions." }),
  expires_date: text("When it expires, ISO 8601; `9999-12-31T23:59:59.000Z`: never."),
  created_date: text("Creation, ISO 8601."),
  updated_date: text("Creation, or when it was revoked, ISO 8601."),
};
const KeyInfo = schema(
  Type.Object(
    {
      ...info,
      user_id: Type.Union([Type.String(), Type.Null()], { description: "Whose personal key it is, or null." }),
    },
    { description: "A key in the form of the AI Refinery SDK." },
  ),
);
export type SdkKey = TypeOf<typeof KeyInfo>;

const KeyCreated = schema(
  Type.Object(
    { ...info, api_key: text("The key itself, returned only in this response.") },
    { description: "A new key in the form of the AI Refinery SDK." },
  ),
);

const KeyCreate = schema(
  Type.Object(
    {
      organization_id: Type.String({ minLength: 1, maxLength: 128, description: "The caller's organization." }),
      tenant_id: Type.Optional(Type.String({ maxLength: 128, description: "Ignored: the caller is known." })),
      label: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: "Name of the key." })),
      lifespans: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 3650, description: "Days until it expires; default 90." }),
      ),
    },
    { additionalProperties: false, description: "A new key." },
  ),
);
const KeyInspect = schema(
  Type.Object({ api_key: secret }, { additionalProperties: false, description: "The key to describe." }),
);
const KeyRevoke = schema(
  Type.Object(
    {
      api_key: secret,
      api_key_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: "Identifier of the key." })),
    },
    { additionalProperties: false, description: "The key to revoke, by one of its members." },
  ),
);

const shared = { tag: "AI Refinery SDK", permission: "any", maxBodyBytes: adminBodyBytes } as const;

export const sdkKeys = {
  create: operation({
    ...shared,
    id: "sdkCreateKey",
    method: "POST",
    path: "/authentication/create",
    summary: "Create an API key",
    description:
      "A personal key for a person; for a key of a service, which needs the permission `admin`, a key of the organization.",
    body: KeyCreate,
    answer: { status: 201, type: "application/json", schema: KeyCreated, description: "The new key." },
  }),
  inspect: operation({
    ...shared,
    id: "sdkInspectKey",
    method: "POST",
    path: "/authentication/inspect",
    summary: "Describe an API key of the caller's organization",
    body: KeyInspect,
    answer: { type: "application/json", schema: KeyInfo, description: "The key, without its secret." },
  }),
  revoke: operation({
    ...shared,
    id: "sdkRevokeKey",
    method: "POST",
    path: "/authentication/revoke",
    summary: "Revoke an API key of the caller's organization",
    description:
      "A caller who sends the secret may revoke the key. By its identifier, callers may revoke their own personal keys, and with the permission `admin` any key.",
    body: KeyRevoke,
    answer: { type: "application/json", schema: KeyInfo, description: "The revoked key." },
  }),
  list: operation({
    ...shared,
    id: "sdkListKeys",
    method: "GET",
    path: "/authentication/list",
    summary: "List the caller's API keys",
    description: "The personal keys of a person; for a key of a service, the key itself.",
    queryParameters: { offset: "Keys to skip.", limit: "Maximum number of keys, 1 to 1000; default 100." },
    answer: {
      type: "application/json",
      schema: schema(Type.Array(KeyInfo.json, { description: "The keys." })),
      description: "The keys.",
    },
  }),
} as const;

export const sdkKeyOperations: readonly Operation[] = Object.values(sdkKeys);
