/** What providers ask about this implementation of SCIM (RFC 7643, sections 5 to 7). */
import { largestPage } from "./lists.ts";
import { groupSchema, toList, userSchema, type Resource } from "./resources.ts";

const coreSchemas = "urn:ietf:params:scim:schemas:core:2.0";

export function configuration(base: string): Resource {
  return {
    schemas: [`${coreSchemas}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: largestPage },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "API key",
        description: "An API key with the permission `provision`, as a bearer token.",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  };
}

export function resourceTypes(base: string): Resource {
  const type = (id: "User" | "Group", schema: string): Resource => ({
    schemas: [`${coreSchemas}:ResourceType`],
    id,
    name: id,
    endpoint: `/${id}s`,
    schema,
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${id}` },
  });
  return onePage([type("User", userSchema), type("Group", groupSchema)]);
}

export function schemas(base: string): Resource {
  const described = (id: string, name: "User" | "Group", attributes: readonly Resource[]): Resource => ({
    schemas: [`${coreSchemas}:Schema`],
    id,
    name,
    attributes,
    meta: { resourceType: "Schema", location: `${base}/Schemas/${id}` },
  });
  return onePage([described(userSchema, "User", userAttributes), described(groupSchema, "Group", groupAttributes)]);
}

function onePage(resources: readonly Resource[]): Resource {
  return toList(resources, { startIndex: 1, total: resources.length });
}

function attribute(name: string, changes: Resource = {}): Resource {
  return {
    name,
    type: "string",
    multiValued: false,
    required: false,
    caseExact: false,
    mutability: "readWrite",
    returned: "default",
    uniqueness: "none",
    ...changes,
  };
}

const readOnly = { mutability: "readOnly" };
const userAttributes: readonly Resource[] = [
  attribute("userName", { required: true, uniqueness: "server" }),
  attribute("externalId", { caseExact: true }),
  attribute("displayName"),
  attribute("name", {
    type: "complex",
    subAttributes: [attribute("formatted"), attribute("givenName"), attribute("familyName")],
  }),
  attribute("emails", {
    type: "complex",
    multiValued: true,
    subAttributes: [attribute("value"), attribute("type"), attribute("primary", { type: "boolean" })],
  }),
  attribute("active", { type: "boolean" }),
  attribute("groups", {
    ...readOnly,
    type: "complex",
    multiValued: true,
    subAttributes: [attribute("value", readOnly), attribute("display", readOnly)],
  }),
];
const groupAttributes: readonly Resource[] = [
  attribute("displayName", { required: true, uniqueness: "server" }),
  attribute("externalId", { caseExact: true }),
  attribute("members", {
    type: "complex",
    multiValued: true,
    subAttributes: [
      attribute("value", { mutability: "immutable" }),
      attribute("display", readOnly),
      attribute("$ref", { ...readOnly, type: "reference", referenceTypes: ["User"] }),
    ],
  }),
];
