/**
 * SCIM 2.0 (RFC 7643, RFC 7644): an identity provider creates, changes and deactivates the people of one organization, and the groups
 * that give them roles.
 */
import { Type } from "typebox";
import { adminBodyBytes, operation, type Operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

/** The media type of requests and responses; requests may also be `application/json`. */
export const scimType = "application/scim+json";
const root = "/scim/v2";

/** Providers send more members than we know, and booleans as text. */
const unread = (description: string) => Type.Optional(Type.Unknown({ description }));

const UserBody = schema(
  Type.Object(
    {
      userName: unread("The name that identifies the user at the provider, for most the mail address."),
      externalId: unread("The provider's identifier of the user."),
      displayName: unread("The name for display."),
      name: unread("`formatted`, `givenName` and `familyName`."),
      emails: unread("Mail addresses. The person has the primary one, else the first, else `userName`."),
      active: unread("Whether the user has access. Absent: true."),
    },
    { description: "A user of SCIM. Other members are accepted and not stored." },
  ),
);

const GroupBody = schema(
  Type.Object(
    {
      displayName: unread("The name of the group, which rules compare."),
      externalId: unread("The provider's identifier of the group, which rules compare as well."),
      members: unread("The users of the group, each with their identifier as `value`."),
    },
    { description: "A group of SCIM. Other members are accepted and not stored." },
  ),
);

const PatchBody = schema(
  Type.Object(
    {
      Operations: Type.Array(
        Type.Object(
          {
            op: Type.String({ maxLength: 20, description: "`add`, `replace` or `remove`, in any case." }),
            path: Type.Optional(
              Type.String({ maxLength: 1000, description: "The attribute. Absent: `value` has attributes." }),
            ),
            value: unread("The new value."),
          },
          { description: "One change." },
        ),
        { minItems: 1, maxItems: 100, description: "The changes, in order. All are made, or none." },
      ),
    },
    { description: "Changes to a user or a group (RFC 7644, section 3.5.2)." },
  ),
);
export type ScimPatchBody = TypeOf<typeof PatchBody>;

const shared = {
  tag: "SCIM",
  permission: "provision",
  maxBodyBytes: adminBodyBytes,
  errors: { types: [scimType], description: "An error of SCIM: `status`, `scimType` and `detail`." },
} as const;
const reading = { ...shared, method: "GET" } as const;
const json = (description: string, status?: number) => ({
  type: scimType,
  description,
  ...(status === undefined ? {} : { status }),
});
const list = {
  filter:
    'Comparisons with `eq`, joined by `and`: of `id`, `externalId`, and of users `userName`, of groups `displayName` and `members.value`; for example `userName eq "ada@example.com"`.',
  startIndex: "Number of the first resource, from 1.",
  count: "Maximum number of resources, 0 to 100; default 100.",
  attributes: "Attributes to return, separated by commas. Absent: all.",
  excludedAttributes: "Attributes to leave out, separated by commas, such as `members`.",
};
const { attributes, excludedAttributes } = list;
const user = { path: `${root}/Users/{scim_user_id}`, pathParameters: { scim_user_id: "Identifier of the user." } };
const group = { path: `${root}/Groups/{scim_group_id}`, pathParameters: { scim_group_id: "Identifier of the group." } };

export const scim = {
  configuration: operation({
    ...reading,
    id: "scimConfiguration",
    path: `${root}/ServiceProviderConfig`,
    summary: "Show which parts of SCIM are served",
    answer: json("The configuration."),
  }),
  resourceTypes: operation({
    ...reading,
    id: "scimResourceTypes",
    path: `${root}/ResourceTypes`,
    summary: "List the types of resources",
    answer: json("The types."),
  }),
  schemas: operation({
    ...reading,
    id: "scimSchemas",
    path: `${root}/Schemas`,
    summary: "List the schemas of users and groups",
    answer: json("The schemas."),
  }),
  listUsers: operation({
    ...reading,
    id: "scimListUsers",
    path: `${root}/Users`,
    summary: "List users",
    queryParameters: list,
    answer: json("A list of users."),
  }),
  createUser: operation({
    ...shared,
    method: "POST",
    id: "scimCreateUser",
    path: `${root}/Users`,
    summary: "Create a user",
    body: UserBody,
    answer: json("The user.", 201),
  }),
  getUser: operation({
    ...reading,
    ...user,
    id: "scimGetUser",
    summary: "Show a user",
    queryParameters: { attributes, excludedAttributes },
    answer: json("The user."),
  }),
  replaceUser: operation({
    ...shared,
    ...user,
    method: "PUT",
    id: "scimReplaceUser",
    summary: "Replace a user",
    body: UserBody,
    answer: json("The user."),
  }),
  patchUser: operation({
    ...shared,
    ...user,
    method: "PATCH",
    id: "scimPatchUser",
    summary: "Change a user",
    description:
      "With `active: false`, the person's sessions, personal keys and access to the organization end at once.",
    body: PatchBody,
    answer: json("The user."),
  }),
  deleteUser: operation({
    ...shared,
    ...user,
    method: "DELETE",
    id: "scimDeleteUser",
    summary: "Delete a user, with all memberships in the organization",
    answer: { status: 204, type: scimType, description: "The user is deleted." },
  }),
  listGroups: operation({
    ...reading,
    id: "scimListGroups",
    path: `${root}/Groups`,
    summary: "List groups",
    queryParameters: list,
    answer: json("A list of groups."),
  }),
  createGroup: operation({
    ...shared,
    method: "POST",
    id: "scimCreateGroup",
    path: `${root}/Groups`,
    summary: "Create a group",
    body: GroupBody,
    answer: json("The group.", 201),
  }),
  getGroup: operation({
    ...reading,
    ...group,
    id: "scimGetGroup",
    summary: "Show a group",
    queryParameters: { attributes, excludedAttributes },
    answer: json("The group."),
  }),
  replaceGroup: operation({
    ...shared,
    ...group,
    method: "PUT",
    id: "scimReplaceGroup",
    summary: "Replace a group and its members",
    body: GroupBody,
    answer: json("The group."),
  }),
  patchGroup: operation({
    ...shared,
    ...group,
    method: "PATCH",
    id: "scimPatchGroup",
    summary: "Change a group, or add and remove members",
    body: PatchBody,
    answer: json("The group."),
  }),
  deleteGroup: operation({
    ...shared,
    ...group,
    method: "DELETE",
    id: "scimDeleteGroup",
    summary: "Delete a group",
    answer: { status: 204, type: scimType, description: "The group is deleted." },
  }),
} as const;

export const scimOperations: readonly Operation[] = Object.values(scim);
