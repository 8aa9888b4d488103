/**
 * The administration requests of the AI Refinery SDK (`client.governance` of `airefinery-sdk` 1.32) as far as their objects are ours:
 * organizations, users, memberships, projects and API keys. Lists are arrays; times are in ISO 8601.
 */
import { Type } from "typebox";
import { adminBodyBytes, operation, type Operation } from "./operation.ts";
import { schema, type Schema, type TypeOf } from "./schema.ts";

export const sdkRoles = ["SUPER_ADMIN", "ORG_ADMIN", "ORG_MEMBER", "ORG_VIEWER"] as const;
export type SdkRole = (typeof sdkRoles)[number];

const text = (description: string) => Type.String({ description });
const maybe = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const input = (description: string) => Type.String({ minLength: 1, maxLength: 254, description });
const role = Type.Enum([...sdkRoles], {
  description:
    "`SUPER_ADMIN`: an operator; `ORG_ADMIN`: owner or admin; `ORG_MEMBER`: member; `ORG_VIEWER`: viewer and others. A role that an organization defines is shown as the one that comes closest.",
});

const Organization = schema(
  Type.Object(
    {
      id: text("Identifier of the organization."),
      name: text("Name of the organization."),
      display_name: maybe("The same name."),
      status: Type.Enum(["active", "deleted"], { description: "`deleted` if it is archived." }),
      created_at: text("Creation."),
      updated_at: text("Creation, or when it was archived."),
    },
    { description: "An organization in the form of the AI Refinery SDK." },
  ),
);
export type SdkOrganization = TypeOf<typeof Organization>;

const User = schema(
  Type.Object(
    {
      id: text("Identifier of the person."),
      external_id: Type.Null({ description: "Always null." }),
      email: text("Mail address."),
      display_name: text("Name of the person."),
      status: Type.Enum(["active", "inactive"], { description: "`inactive` if the person is disabled." }),
      created_at: text("Creation."),
      updated_at: text("Creation, or when the person was disabled."),
      last_login_at: maybe("When the person last used Sounding."),
      org_id: maybe("Identifier of the organization."),
      role: Type.Union([role, Type.Null()], { description: "The role in it." }),
    },
    { description: "A person in the form of the AI Refinery SDK." },
  ),
);
export type SdkUser = TypeOf<typeof User>;

const OrgMembership = schema(
  Type.Object(
    {
      id: text("Identifier of the membership."),
      org_id: text("Identifier of the organization."),
      user_id: text("Identifier of the person."),
      role,
      created_at: text("Creation."),
    },
    { description: "A membership in the form of the AI Refinery SDK." },
  ),
);
export type SdkMembership = TypeOf<typeof OrgMembership>;

const Project = schema(
  Type.Object(
    {
      id: text("Identifier of the project."),
      workspace_id: text("Identifier of the organization; there are no workspaces."),
      org_id: text("Identifier of the organization."),
      name: text("Name of the project."),
      description: Type.Null({ description: "Always null." }),
      created_by: Type.Null({ description: "Always null." }),
      status: Type.Enum(["active", "archived"], { description: "Whether it is archived." }),
      created_at: text("Creation."),
      updated_at: text("Creation, or when it was archived."),
    },
    { description: "A project in the form of the AI Refinery SDK." },
  ),
);
export type SdkProject = TypeOf<typeof Project>;

const OrganizationCreate = schema(
  Type.Object(
    {
      name: input("Name of the organization."),
      display_name: Type.Optional(input("Refused unless it is the name.")),
      owner_user_id: Type.Optional(input("The person who becomes its owner. Absent: nobody.")),
    },
    { additionalProperties: false, description: "A new organization." },
  ),
);
const UserCreate = schema(
  Type.Object(
    {
      email: input("Mail address."),
      external_id: Type.Optional(input("Refused: people are identified by their mail address.")),
      display_name: Type.Optional(input("Name of the person.")),
      org_id: Type.Optional(input("The organization. Absent: the caller's own.")),
      role: Type.Optional(role),
    },
    { additionalProperties: false, description: "A new person with a role." },
  ),
);
const UserUpdate = schema(
  Type.Object(
    {
      display_name: Type.Optional(input("The new name.")),
      status: Type.Optional(
        Type.Enum(["active", "inactive", "deleted"], {
          description: "`inactive` disables the person. `deleted` is refused.",
        }),
      ),
    },
    { additionalProperties: false, description: "Changes to a person." },
  ),
);
const MembershipCreate = schema(
  Type.Object(
    {
      user_id: input("Identifier of the person."),
      org_id: Type.Optional(input("The organization. Absent: the caller's own.")),
      role: Type.Optional(role),
    },
    { additionalProperties: false, description: "A role for a person." },
  ),
);
const MembershipDelete = schema(
  Type.Object(
    {
      user_id: input("Identifier of the person."),
      org_id: Type.Optional(input("The organization. Absent: the caller's own.")),
    },
    { additionalProperties: false, description: "Which membership to remove." },
  ),
);

const shared = { tag: "AI Refinery SDK", maxBodyBytes: adminBodyBytes } as const;
const reading = { ...shared, permission: "configuration_read", method: "GET" } as const;
const changing = { ...shared, permission: "admin" } as const;
const root = "/governance";
const paging = {
  offset: "Objects to skip.",
  limit: "Maximum number of objects, 1 to 1000; default 100.",
};
const inOrganization = { org_id: "Identifier or name of the organization. Absent: the caller's own." };
const user = { path: `${root}/users/{user_id}`, pathParameters: { user_id: "Identifier of the person." } };

function json<Answer>(answer: Schema<Answer>, description: string, status?: number) {
  return { type: "application/json", schema: answer, description, ...(status === undefined ? {} : { status }) };
}
function list<Item>(item: Schema<Item>, description: string) {
  return json(schema(Type.Array(item.json, { description })), description);
}

export const governance = {
  listOrganizations: operation({
    ...reading,
    id: "sdkListOrganizations",
    path: `${root}/organizations`,
    summary: "List organizations",
    queryParameters: paging,
    answer: list(Organization, "All organizations for an operator, otherwise the caller's own."),
  }),
  createOrganization: operation({
    ...changing,
    id: "sdkCreateOrganization",
    operator: true,
    method: "POST",
    path: `${root}/organizations`,
    summary: "Create an organization",
    body: OrganizationCreate,
    answer: json(Organization, "The new organization.", 201),
  }),
  ownOrganization: operation({
    ...reading,
    id: "sdkOwnOrganization",
    path: `${root}/organizations/me`,
    summary: "Show the caller's organization",
    queryParameters: inOrganization,
    answer: json(Organization, "The organization."),
  }),
  getOrganization: operation({
    ...reading,
    id: "sdkGetOrganization",
    path: `${root}/organizations/{org_id}`,
    pathParameters: { org_id: "Identifier of the organization." },
    summary: "Show an organization",
    answer: json(Organization, "The organization."),
  }),
  listUsers: operation({
    ...reading,
    id: "sdkListUsers",
    path: `${root}/users`,
    summary: "List people",
    queryParameters: { ...paging, ...inOrganization },
    answer: list(User, "The people of the organization."),
  }),
  createUser: operation({
    ...changing,
    id: "sdkCreateUser",
    method: "POST",
    path: `${root}/users`,
    summary: "Add a person with a role",
    body: UserCreate,
    answer: json(User, "The person.", 201),
  }),
  me: operation({
    ...shared,
    id: "sdkMe",
    permission: "any",
    method: "GET",
    path: `${root}/users/me`,
    summary: "Show the person who calls",
    description: "A key of a service has no person.",
    answer: json(User, "The person."),
  }),
  getUser: operation({
    ...reading,
    ...user,
    id: "sdkGetUser",
    summary: "Show a person",
    answer: json(User, "The person."),
  }),
  updateUser: operation({
    ...changing,
    ...user,
    id: "sdkUpdateUser",
    method: "PUT",
    summary: "Change a person's name, or disable a person",
    body: UserUpdate,
    answer: json(User, "The person."),
  }),
  deleteUser: operation({
    ...changing,
    ...user,
    id: "sdkDeleteUser",
    method: "DELETE",
    summary: "Remove a person from the caller's organization",
    answer: json(User, "The person as it was."),
  }),
  listMemberships: operation({
    ...reading,
    id: "sdkListMemberships",
    path: `${root}/memberships`,
    summary: "List memberships in an organization",
    queryParameters: { ...paging, ...inOrganization },
    answer: list(OrgMembership, "The memberships, without those in projects."),
  }),
  createMembership: operation({
    ...changing,
    id: "sdkCreateMembership",
    method: "POST",
    path: `${root}/memberships`,
    summary: "Give a person a role",
    body: MembershipCreate,
    answer: json(OrgMembership, "The membership.", 201),
  }),
  updateMembershipRole: operation({
    ...changing,
    id: "sdkUpdateMembershipRole",
    method: "PUT",
    path: `${root}/memberships/role`,
    summary: "Change a person's role",
    queryParameters: inOrganization,
    body: MembershipCreate,
    answer: json(OrgMembership, "The membership."),
  }),
  deleteMembership: operation({
    ...changing,
    id: "sdkDeleteMembership",
    method: "DELETE",
    path: `${root}/memberships`,
    summary: "Remove a person from an organization",
    body: MembershipDelete,
    answer: json(OrgMembership, "The membership as it was."),
  }),
  listProjects: operation({
    ...reading,
    id: "sdkListProjects",
    path: `${root}/projects`,
    summary: "List projects",
    queryParameters: { ...paging, ...inOrganization },
    answer: list(Project, "The projects of the organization."),
  }),
  getProject: operation({
    ...reading,
    id: "sdkGetProject",
    path: `${root}/projects/{project_id}`,
    pathParameters: { project_id: "Identifier of the project." },
    summary: "Show a project",
    answer: json(Project, "The project."),
  }),
} as const;

export const governanceOperations: readonly Operation[] = Object.values(governance);
