/** The objects of the admin API for people: people, memberships and roles. */
import { Type } from "typebox";
import { builtInRoleNames, permissions } from "../permissions.ts";
import {
  allowedModels,
  id,
  identifierPattern,
  name,
  nullable,
  organizationChoice,
  page,
  strict,
  time,
} from "./admin.ts";
import { schema, type TypeOf } from "./schema.ts";

/** The form of an address is the mail server's business; this is what nothing else has. https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1 */
export const email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: String.raw`^[^\s@\u0000-\u001f]+@[^\s@\u0000-\u001f]+$`,
  description: "Mail address, which identifies the person at sign-in. Stored in lower case.",
});
export const personName = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Name of the person, for display.",
});

const builtIn = builtInRoleNames.map((each) => `\`${each}\``).join(", ");
/** A role in a request. */
export const roleChoice = Type.String({
  minLength: 1,
  maxLength: 128,
  description: `A built-in role (${builtIn}), or the name or identifier of a role of the organization.`,
});
/** A role in a response. */
const roleReference = Type.String({
  description: `A built-in role (${builtIn}), or the identifier of a role of the organization.`,
});
const projectChoice = Type.Optional(
  nullable(
    Type.String({ pattern: identifierPattern, maxLength: 64 }),
    "Project to which the role is limited. Absent or null: the whole organization.",
  ),
);

export const Membership = schema(
  Type.Object(
    {
      object: Type.Literal("membership", { description: "Always `membership`." }),
      id: id("membership"),
      person_id: id("person"),
      organization_id: id("organization"),
      project_id: nullable(Type.String(), "Project to which the role is limited; null: the whole organization."),
      role: roleReference,
      source: Type.String({
        description:
          "`admin`: set through the admin API. Others are set, and removed, by what they name, such as an identity provider.",
      }),
      created_at: time("Creation"),
    },
    { description: "A role of a person in an organization, or in one of its projects." },
  ),
);
export type Membership = TypeOf<typeof Membership>;

export const Person = schema(
  Type.Object(
    {
      object: Type.Literal("person", { description: "Always `person`." }),
      id: id("person"),
      email,
      name: personName,
      operator: Type.Boolean({ description: "Whether the person may administer all organizations." }),
      memberships: Type.Array(Membership.json, { description: "The memberships that the caller may see." }),
      created_at: time("Creation"),
      disabled_at: nullable(Type.Integer(), "When the person was disabled, UNIX seconds; null if not."),
      last_used_at: nullable(Type.Integer(), "When the person last used Sounding, UNIX seconds; null if never."),
    },
    { description: "A person who can sign in." },
  ),
);
/** TypeBox does not keep the types of nested schemas. */
export type Person = Omit<TypeOf<typeof Person>, "memberships"> & { readonly memberships: readonly Membership[] };

export const PersonCreate = schema(
  Type.Object(
    {
      email,
      name: Type.Optional(personName),
      organization_id: organizationChoice,
      project_id: projectChoice,
      role: roleChoice,
      operator: Type.Optional(
        Type.Boolean({ description: "Whether the person may administer all organizations. Requires an operator." }),
      ),
    },
    {
      ...strict,
      description: "A person and a first role. A person with the address who exists gets the role, and keeps the name.",
    },
  ),
);
export type PersonCreate = TypeOf<typeof PersonCreate>;

export const PersonUpdate = schema(
  Type.Object(
    {
      name: Type.Optional(personName),
      email: Type.Optional(email),
      operator: Type.Optional(Type.Boolean({ description: "Whether the person may administer all organizations." })),
      disabled: Type.Optional(
        Type.Boolean({
          description:
            "true ends the person's sessions, revokes the personal keys for good and refuses further sign-ins; false allows them again.",
        }),
      ),
    },
    { ...strict, description: "Changes to a person. `email` and `operator` require an operator." },
  ),
);
export type PersonUpdate = TypeOf<typeof PersonUpdate>;

export const MembershipCreate = schema(
  Type.Object(
    {
      person_id: Type.String({ maxLength: 64, pattern: identifierPattern, description: "Identifier of the person." }),
      organization_id: organizationChoice,
      project_id: projectChoice,
      role: roleChoice,
    },
    { ...strict, description: "A role for a person. An existing one for the same organization or project changes." },
  ),
);
export type MembershipCreate = TypeOf<typeof MembershipCreate>;

export const MembershipUpdate = schema(Type.Object({ role: roleChoice }, { ...strict, description: "Another role." }));
export type MembershipUpdate = TypeOf<typeof MembershipUpdate>;

/** `owner` is for the role `owner` alone, which every organization keeps. */
const grantable = permissions.filter((permission) => permission !== "owner");
const rolePermissions = Type.Array(Type.Enum([...grantable]), {
  minItems: 1,
  maxItems: grantable.length,
  description: "The permissions of the role. Some include others.",
});

export const Role = schema(
  Type.Object(
    {
      object: Type.Literal("role", { description: "Always `role`." }),
      id: Type.String({ description: "Identifier of the role; its name if it is built in." }),
      organization_id: nullable(Type.String(), "Identifier of the organization; null if it is built in."),
      name: name("role"),
      permissions: Type.Array(Type.Enum([...permissions]), {
        description: "The permissions of the role, with those that they include.",
      }),
      allowed_models: allowedModels,
      created_at: nullable(Type.Integer(), "Creation, UNIX seconds; null if it is built in."),
      updated_at: nullable(Type.Integer(), "Last change, UNIX seconds; null if it is built in."),
    },
    { description: "A role: a named set of permissions." },
  ),
);
export type Role = TypeOf<typeof Role>;

export const RoleCreate = schema(
  Type.Object(
    {
      organization_id: organizationChoice,
      name: name("role"),
      permissions: rolePermissions,
      allowed_models: Type.Optional(allowedModels),
    },
    { ...strict, description: "A new role of an organization." },
  ),
);
export type RoleCreate = TypeOf<typeof RoleCreate>;

export const RoleUpdate = schema(
  Type.Object(
    {
      name: Type.Optional(name("role")),
      permissions: Type.Optional(rolePermissions),
      allowed_models: Type.Optional(allowedModels),
    },
    { ...strict, description: "Changes to a role. They apply to everybody who has it." },
  ),
);
export type RoleUpdate = TypeOf<typeof RoleUpdate>;

export const PersonPage = page(Person.json, "people");
export const MembershipPage = page(Membership.json, "memberships");
export const RolePage = page(Role.json, "roles");
