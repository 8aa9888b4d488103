/**
 * The operations of the admin API. The description of each says what it requires in addition to its permission.
 */
import {
  Organization,
  OrganizationCreate,
  OrganizationPage,
  OrganizationUpdate,
  Project,
  ProjectCreate,
  ProjectPage,
  ProjectUpdate,
} from "./admin.ts";
import { Key, KeyCreate, KeyPage, KeyUpdate, KeyWithSecret } from "./keys.ts";
import { KeyRotate, KeyRotation } from "./key-rotation.ts";
import { adminBodyBytes, operation, type Operation } from "./operation.ts";
import type { Schema } from "./schema.ts";
import { Usage } from "./usage.ts";

const administration = { tag: "Administration", permission: "admin", maxBodyBytes: adminBodyBytes } as const;
const reading = { ...administration, permission: "configuration_read" } as const;
const root = "/admin/v1";

export const paging = {
  limit: "Page size, 1 to 100; default 20.",
  after: "Identifier that the page starts after: `last_id` of the previous page.",
  order: "`asc` (default): oldest first; `desc`: newest first.",
};
export const ofOrganization = {
  organization_id:
    "Identifier or name of the organization. Absent: the caller's own, or all organizations for an operator key.",
};

function answer<Answer>(schema: Schema<Answer>, description: string, status?: number) {
  return { type: "application/json", schema, description, ...(status === undefined ? {} : { status }) };
}

export const listOrganizationsOperation = operation({
  ...reading,
  id: "listOrganizations",
  method: "GET",
  path: `${root}/organizations`,
  summary: "List organizations",
  description: "An operator key lists all organizations; any other key lists only its own.",
  queryParameters: {
    ...paging,
    name: "Only the organization with this name.",
    search: "Only organizations whose name or identifier contains this text.",
    include_archived: "`true` includes archived organizations.",
  },
  answer: answer(OrganizationPage, "A page of organizations."),
});

export const createOrganizationOperation = operation({
  ...administration,
  id: "createOrganization",
  operator: true,
  method: "POST",
  path: `${root}/organizations`,
  summary: "Create an organization",
  description: "Requires an operator key.",
  body: OrganizationCreate,
  answer: answer(Organization, "The new organization.", 201),
  example: { name: "acme", limits: { requests_per_minute: 600 }, allowed_models: ["gpt-*"] },
});

const usageDescription =
  "Rates, concurrency and compute seconds are what the responding server counted. Tokens per month include other servers that share the database, with up to a minute of delay.";

const organizationPath = {
  path: `${root}/organizations/{organization_id}`,
  pathParameters: { organization_id: "Identifier of the organization." },
};

export const getOrganizationOperation = operation({
  ...reading,
  ...organizationPath,
  id: "getOrganization",
  method: "GET",
  summary: "Show an organization",
  answer: answer(Organization, "The organization."),
});

export const getOrganizationUsageOperation = operation({
  ...reading,
  ...organizationPath,
  path: `${organizationPath.path}/usage`,
  id: "getOrganizationUsage",
  method: "GET",
  summary: "Show an organization's limits and current usage",
  description: usageDescription,
  answer: answer(Usage, "The limits and their usage."),
});

export const updateOrganizationOperation = operation({
  ...administration,
  ...organizationPath,
  id: "updateOrganization",
  operator: true,
  method: "PATCH",
  summary: "Change an organization's name, limits or allowed models",
  description: "Requires an operator key.",
  body: OrganizationUpdate,
  answer: answer(Organization, "The updated organization."),
  example: { limits: { tokens_per_month: 50_000_000, requests_per_minute: null } },
});

export const archiveOrganizationOperation = operation({
  ...administration,
  ...organizationPath,
  path: `${organizationPath.path}/archive`,
  id: "archiveOrganization",
  operator: true,
  method: "POST",
  summary: "Archive an organization",
  description: "Requires an operator key. Permanently revokes the organization's keys and archives its projects.",
  answer: answer(Organization, "The archived organization."),
});

export const listProjectsOperation = operation({
  ...reading,
  id: "listProjects",
  method: "GET",
  path: `${root}/projects`,
  summary: "List projects",
  queryParameters: {
    ...paging,
    ...ofOrganization,
    name: "Only projects with this name.",
    search: "Only projects whose name or identifier contains this text.",
    include_archived: "`true` includes archived projects.",
  },
  answer: answer(ProjectPage, "A page of projects."),
});

export const createProjectOperation = operation({
  ...administration,
  id: "createProject",
  method: "POST",
  path: `${root}/projects`,
  summary: "Create a project",
  body: ProjectCreate,
  answer: answer(Project, "The new project.", 201),
  example: { name: "support-bot", settings: { retention_days: 90, record_content: true } },
});

const projectPath = {
  path: `${root}/projects/{project_id}`,
  pathParameters: { project_id: "Identifier of the project." },
};

export const getProjectOperation = operation({
  ...reading,
  ...projectPath,
  id: "getProject",
  method: "GET",
  summary: "Show a project",
  answer: answer(Project, "The project."),
});

export const updateProjectOperation = operation({
  ...administration,
  ...projectPath,
  id: "updateProject",
  method: "PATCH",
  summary: "Change a project's settings",
  body: ProjectUpdate,
  answer: answer(Project, "The updated project."),
  example: { settings: { retention_days: 7 } },
});

export const archiveProjectOperation = operation({
  ...administration,
  ...projectPath,
  path: `${projectPath.path}/archive`,
  id: "archiveProject",
  method: "POST",
  summary: "Archive a project",
  description:
    "Permanently revokes the keys that are bound to the project. Its telemetry is kept until its retention ends.",
  answer: answer(Project, "The archived project."),
});

export const listKeysOperation = operation({
  ...reading,
  id: "listKeys",
  method: "GET",
  path: `${root}/keys`,
  summary: "List API keys",
  queryParameters: {
    ...paging,
    ...ofOrganization,
    project_id: "Only keys bound to this project.",
    name: "Only keys with this name.",
    search: "Only keys whose name, identifier or redacted secret contains this text.",
    include_revoked: "`true` includes revoked keys.",
  },
  answer: answer(KeyPage, "A page of keys, without their secrets."),
});

export const createKeyOperation = operation({
  ...administration,
  id: "createKey",
  method: "POST",
  path: `${root}/keys`,
  summary: "Create an API key",
  description: "The secret is returned only in this response. Only an operator key can create an operator key.",
  body: KeyCreate,
  answer: answer(KeyWithSecret, "The new key with its secret.", 201),
  example: { name: "support-bot", permissions: ["inference"], limits: { requests_per_minute: 60 } },
});

const keyPath = { path: `${root}/keys/{key_id}`, pathParameters: { key_id: "Identifier of the key." } };

export const getKeyOperation = operation({
  ...reading,
  ...keyPath,
  id: "getKey",
  method: "GET",
  summary: "Show an API key",
  answer: answer(Key, "The key, without its secret."),
});

export const getKeyUsageOperation = operation({
  ...reading,
  ...keyPath,
  path: `${keyPath.path}/usage`,
  id: "getKeyUsage",
  method: "GET",
  summary: "Show an API key's limits and current usage",
  description: usageDescription,
  answer: answer(Usage, "The limits and their usage."),
});

export const updateKeyOperation = operation({
  ...administration,
  ...keyPath,
  id: "updateKey",
  method: "PATCH",
  summary: "Change an API key's name, limits or expiry",
  description: "Only an operator key can change an operator key.",
  body: KeyUpdate,
  answer: answer(Key, "The updated key."),
  example: { limits: { requests_per_minute: 120 } },
});

export const revokeKeyOperation = operation({
  ...administration,
  ...keyPath,
  path: `${keyPath.path}/revoke`,
  id: "revokeKey",
  method: "POST",
  summary: "Revoke an API key",
  description:
    "Permanent. Takes effect immediately on this server, and within five seconds on other servers that share its database.",
  answer: answer(Key, "The revoked key."),
});

export const rotateKeyOperation = operation({
  ...administration,
  ...keyPath,
  path: `${keyPath.path}/rotate`,
  id: "rotateKey",
  method: "POST",
  summary: "Rotate an API key",
  description:
    "Creates a key with the same name, organization, project, permissions and limits, and revokes the old one, at once or after a grace period. The secret is returned only in this response. Only an operator key can rotate an operator key.",
  body: KeyRotate,
  answer: answer(KeyRotation, "The new key with its secret.", 201),
  example: { grace_seconds: 3600 },
});

export const adminOperations: readonly Operation[] = [
  listOrganizationsOperation,
  createOrganizationOperation,
  getOrganizationOperation,
  getOrganizationUsageOperation,
  updateOrganizationOperation,
  archiveOrganizationOperation,
  listProjectsOperation,
  createProjectOperation,
  getProjectOperation,
  updateProjectOperation,
  archiveProjectOperation,
  listKeysOperation,
  createKeyOperation,
  getKeyOperation,
  getKeyUsageOperation,
  updateKeyOperation,
  rotateKeyOperation,
  revokeKeyOperation,
];
