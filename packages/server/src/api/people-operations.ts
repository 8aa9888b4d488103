/** The operations of the admin API for people, memberships and roles. */
import { ofOrganization, paging } from "./admin-operations.ts";
import { adminBodyBytes, operation, type Operation } from "./operation.ts";
import {
  Membership,
  MembershipCreate,
  MembershipPage,
  MembershipUpdate,
  Person,
  PersonCreate,
  PersonPage,
  PersonUpdate,
  Role,
  RoleCreate,
  RolePage,
  RoleUpdate,
} from "./people.ts";
import type { Schema } from "./schema.ts";

const administration = { tag: "People", permission: "admin", maxBodyBytes: adminBodyBytes } as const;
const reading = { ...administration, permission: "configuration_read" } as const;
const root = "/admin/v1";
const noMore = "Nobody can grant, change or remove a role with permissions that they do not have themselves.";

function answer<Answer>(schema: Schema<Answer>, description: string, status?: number) {
  return { type: "application/json", schema, description, ...(status === undefined ? {} : { status }) };
}

export const listPeopleOperation = operation({
  ...reading,
  id: "listPeople",
  method: "GET",
  path: `${root}/people`,
  summary: "List people",
  description:
    "The people with a role in the organization; for a caller with a role in one project, those with a role in it.",
  queryParameters: {
    ...paging,
    ...ofOrganization,
    search: "Only people whose name, mail address or identifier contains this text.",
    include_disabled: "`true` includes people who are disabled.",
  },
  answer: answer(PersonPage, "A page of people."),
});

export const createPersonOperation = operation({
  ...administration,
  id: "createPerson",
  method: "POST",
  path: `${root}/people`,
  summary: "Add a person with a role",
  description: noMore,
  body: PersonCreate,
  answer: answer(Person, "The person.", 201),
  example: { email: "ada@example.com", name: "Ada", role: "member" },
});

const person = { path: `${root}/people/{person_id}`, pathParameters: { person_id: "Identifier of the person." } };

export const getPersonOperation = operation({
  ...reading,
  ...person,
  id: "getPerson",
  method: "GET",
  summary: "Show a person",
  answer: answer(Person, "The person."),
});

export const updatePersonOperation = operation({
  ...administration,
  ...person,
  id: "updatePerson",
  method: "PATCH",
  summary: "Change a person's name, or disable a person",
  description:
    "For a person who has roles in other organizations, too, this requires an operator; remove the memberships of your organization instead.",
  body: PersonUpdate,
  answer: answer(Person, "The updated person."),
  example: { disabled: true },
});

export const listMembershipsOperation = operation({
  ...reading,
  id: "listMemberships",
  method: "GET",
  path: `${root}/memberships`,
  summary: "List memberships",
  queryParameters: {
    ...paging,
    ...ofOrganization,
    person_id: "Only memberships of this person.",
    project_id: "Only memberships in this project.",
  },
  answer: answer(MembershipPage, "A page of memberships."),
});

export const createMembershipOperation = operation({
  ...administration,
  id: "createMembership",
  method: "POST",
  path: `${root}/memberships`,
  summary: "Give a person a role",
  description: noMore,
  body: MembershipCreate,
  answer: answer(Membership, "The membership.", 201),
  example: { person_id: `pers_${"0".repeat(32)}`, role: "viewer" },
});

const membership = {
  path: `${root}/memberships/{membership_id}`,
  pathParameters: { membership_id: "Identifier of the membership." },
};

export const getMembershipOperation = operation({
  ...reading,
  ...membership,
  id: "getMembership",
  method: "GET",
  summary: "Show a membership",
  answer: answer(Membership, "The membership."),
});

export const updateMembershipOperation = operation({
  ...administration,
  ...membership,
  id: "updateMembership",
  method: "PATCH",
  summary: "Change the role of a membership",
  description: noMore,
  body: MembershipUpdate,
  answer: answer(Membership, "The updated membership."),
  example: { role: "admin" },
});

export const deleteMembershipOperation = operation({
  ...administration,
  ...membership,
  id: "deleteMembership",
  method: "DELETE",
  summary: "Remove a membership",
  description: `With the last membership in an organization, the person's keys there are revoked. The last owner stays. ${noMore}`,
  answer: answer(Membership, "The membership as it was."),
});

export const listRolesOperation = operation({
  ...reading,
  id: "listRoles",
  method: "GET",
  path: `${root}/roles`,
  summary: "List roles",
  description: "The built-in roles come first, on the first page.",
  queryParameters: { ...paging, ...ofOrganization },
  answer: answer(RolePage, "A page of roles."),
});

export const createRoleOperation = operation({
  ...administration,
  id: "createRole",
  method: "POST",
  path: `${root}/roles`,
  summary: "Define a role",
  description: noMore,
  body: RoleCreate,
  answer: answer(Role, "The new role.", 201),
  example: { name: "reviewer", permissions: ["telemetry_read", "content_read", "configuration_read"] },
});

const role = { path: `${root}/roles/{role_id}`, pathParameters: { role_id: "Identifier of the role." } };

export const getRoleOperation = operation({
  ...reading,
  ...role,
  id: "getRole",
  method: "GET",
  summary: "Show a role that an organization defined",
  answer: answer(Role, "The role."),
});

export const updateRoleOperation = operation({
  ...administration,
  ...role,
  id: "updateRole",
  method: "PATCH",
  summary: "Change a role",
  description: `Built-in roles do not change. ${noMore}`,
  body: RoleUpdate,
  answer: answer(Role, "The updated role."),
  example: { allowed_models: ["gpt-*"] },
});

export const deleteRoleOperation = operation({
  ...administration,
  ...role,
  id: "deleteRole",
  method: "DELETE",
  summary: "Delete a role that nobody has",
  answer: answer(Role, "The role as it was."),
});

export const peopleOperations: readonly Operation[] = [
  listPeopleOperation,
  createPersonOperation,
  getPersonOperation,
  updatePersonOperation,
  listMembershipsOperation,
  createMembershipOperation,
  getMembershipOperation,
  updateMembershipOperation,
  deleteMembershipOperation,
  listRolesOperation,
  createRoleOperation,
  getRoleOperation,
  updateRoleOperation,
  deleteRoleOperation,
];
