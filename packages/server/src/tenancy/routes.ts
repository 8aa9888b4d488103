/** Routes of the admin API, under the rules of authority.ts. */
import {
  archiveOrganizationOperation,
  archiveProjectOperation,
  createKeyOperation,
  createOrganizationOperation,
  createProjectOperation,
  getKeyOperation,
  getKeyUsageOperation,
  getOrganizationOperation,
  getOrganizationUsageOperation,
  getProjectOperation,
  listKeysOperation,
  listOrganizationsOperation,
  listProjectsOperation,
  revokeKeyOperation,
  rotateKeyOperation,
  updateKeyOperation,
  updateOrganizationOperation,
  updateProjectOperation,
} from "../api/admin-operations.ts";
import type { Project } from "../api/admin.ts";
import type { Key } from "../api/keys.ts";
import { validateKey } from "../api/authentication.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route, type RouteResponse } from "../http/route.ts";
import type { LimitUsage, UsageSubject } from "../limits/limit-usage.ts";
import type { Scope } from "../tenant.ts";
import {
  boundProject,
  boundProjectId,
  listedOrganization,
  namedOrganization,
  requestedProject,
  requireReach,
  requireWholeOrganization,
} from "./authority.ts";
import type { ControlDatabase } from "./control-database.ts";
import { requireKeyGrant } from "./grants.ts";
import { createKey, getKey, getLimitsKeyId, listKeys, revokeKey, updateKey } from "./keys.ts";
import { rotateKey } from "./key-rotation.ts";
import { identifierParameter, pageRequest, booleanParameter } from "./list-query.ts";
import {
  archiveOrganization,
  createOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from "./organizations.ts";
import { membershipRoutes } from "./membership-routes.ts";
import { peopleRoutes } from "./people-routes.ts";
import { personalKeyRoutes } from "./personal-key-routes.ts";
import { roleRoutes } from "./role-routes.ts";
import { archiveProject, createProject, getProject, listProjects, updateProject } from "./projects.ts";

/** Reads the limits of a key or an organization with their usage. */
export type ReadUsage = (subject: UsageSubject) => readonly LimitUsage[] | Promise<readonly LimitUsage[]>;

export function tenancyRoutes(control: ControlDatabase, readUsage: ReadUsage): readonly Route[] {
  return [
    ...organizationRoutes(control),
    ...projectRoutes(control),
    ...keyRoutes(control),
    ...usageRoutes(control, readUsage),
    ...peopleRoutes(control),
    ...membershipRoutes(control),
    ...roleRoutes(control),
    ...personalKeyRoutes(control),
    identityRoute,
  ];
}

function organizationRoutes(control: ControlDatabase): Route[] {
  return [
    route(listOrganizationsOperation, async ({ scope, query }) =>
      json(
        await listOrganizations(control, {
          ...pageRequest(query),
          id: scope.key.operator ? undefined : scope.organizationId,
          name: query.get("name") ?? undefined,
          includeArchived: booleanParameter(query, "include_archived"),
        }),
      ),
    ),
    route(createOrganizationOperation, async ({ scope, body }) => {
      scope.requireOperator("create an organization");
      return json(await createOrganization(control, body), 201);
    }),
    route(getOrganizationOperation, async ({ scope, path }) => {
      const id = reachableOrganization(scope, path);
      return json(await getOrganization(control, id));
    }),
    route(updateOrganizationOperation, async ({ scope, path, body }) => {
      const id = reachableOrganization(scope, path);
      scope.requireOperator("change an organization");
      return json(await updateOrganization(control, id, body));
    }),
    route(archiveOrganizationOperation, async ({ scope, path }) => {
      const id = reachableOrganization(scope, path);
      scope.requireOperator("archive an organization");
      return json(await archiveOrganization(control, id));
    }),
  ];
}

function projectRoutes(control: ControlDatabase): Route[] {
  return [
    route(listProjectsOperation, async ({ scope, query }) =>
      json(
        await listProjects(control, {
          ...pageRequest(query),
          organizationId: await listedOrganization(control, scope, query),
          id: await boundProjectId(control, scope),
          name: query.get("name") ?? undefined,
          includeArchived: booleanParameter(query, "include_archived"),
        }),
      ),
    ),
    route(createProjectOperation, async ({ scope, body }) => {
      requireWholeOrganization(scope, "create a project");
      const { organization_id, name, settings } = body;
      const organizationId = (await namedOrganization(control, scope, organization_id)) ?? scope.organizationId;
      return json(await createProject(control, { organizationId, name, settings }), 201);
    }),
    route(getProjectOperation, async ({ scope, path }) => json(await reachableProject(control, scope, path))),
    route(updateProjectOperation, async ({ scope, path, body }) => {
      const { id } = await reachableProject(control, scope, path);
      return json(await updateProject(control, id, { ...body, requestedBy: scope.key.keyId }));
    }),
    route(archiveProjectOperation, async ({ scope, path }) => {
      const { id } = await reachableProject(control, scope, path);
      return json(await archiveProject(control, id));
    }),
  ];
}

function keyRoutes(control: ControlDatabase): Route[] {
  return [
    route(listKeysOperation, async ({ scope, query }) =>
      json(
        await listKeys(control, {
          ...pageRequest(query),
          organizationId: await listedOrganization(control, scope, query),
          projectId: await requestedProject(control, scope, identifierParameter(query, "project_id")),
          name: query.get("name") ?? undefined,
          includeRevoked: booleanParameter(query, "include_revoked"),
        }),
      ),
    ),
    route(createKeyOperation, async ({ scope, body }) => {
      const { organization_id, ...rest } = body;
      if (body.operator === true) scope.requireOperator("create an operator key");
      const organizationId = (await namedOrganization(control, scope, organization_id)) ?? scope.organizationId;
      const project_id = (await requestedProject(control, scope, rest.project_id ?? undefined)) ?? null;
      await control.read((database) => requireKeyGrant(database, scope, { ...rest, organizationId }));
      return json(await createKey(control, { ...rest, project_id, organizationId }), 201);
    }),
    route(getKeyOperation, async ({ scope, path }) => json(await reachableKey(control, scope, path))),
    route(updateKeyOperation, async ({ scope, path, body }) => {
      const key = await reachableKey(control, scope, path);
      if (key.operator) scope.requireOperator("change an operator key");
      return json(await updateKey(control, key.id, body));
    }),
    route(rotateKeyOperation, async ({ scope, path, body }) => {
      const key = await reachableKey(control, scope, path);
      if (key.operator) scope.requireOperator("rotate an operator key");
      if (key.person_id !== null) {
        throw new AppError(
          "permission_denied",
          `${key.id} is a personal key. Only its person can replace it; revoke it.`,
        );
      }
      await control.read((database) =>
        requireKeyGrant(database, scope, {
          organizationId: key.organization_id,
          ...(key.role === null ? { permissions: key.permissions } : { role: key.role }),
        }),
      );
      return json(await rotateKey(control, key.id, body), 201);
    }),
    route(revokeKeyOperation, async ({ scope, path }) => {
      const key = await reachableKey(control, scope, path);
      if (key.operator) scope.requireOperator("revoke an operator key");
      return json(await revokeKey(control, key.id));
    }),
  ];
}

function usageRoutes(control: ControlDatabase, readUsage: ReadUsage): Route[] {
  const usage = async (id: string, subject: UsageSubject): Promise<RouteResponse> =>
    json({ object: "usage", id, data: await readUsage(subject) });
  return [
    route(getOrganizationUsageOperation, async ({ scope, path }) => {
      const { id, limits } = await getOrganization(control, reachableOrganization(scope, path));
      return await usage(id, { kind: "organization", id, limits });
    }),
    route(getKeyUsageOperation, async ({ scope, path }) => {
      const { id, limits } = await reachableKey(control, scope, path);
      return await usage(id, { kind: "key", id: await getLimitsKeyId(control, id), limits });
    }),
  ];
}

type Path = Readonly<Record<string, string>>;

function reachableOrganization(scope: Scope, path: Path): string {
  const id = path["organization_id"] ?? "";
  requireReach(scope, id, `The organization ${JSON.stringify(id)} does not exist.`);
  return id;
}

async function reachableProject(control: ControlDatabase, scope: Scope, path: Path): Promise<Project> {
  const id = path["project_id"] ?? "";
  const project = await getProject(control, id);
  const notFound = `The project ${JSON.stringify(id)} does not exist.`;
  requireReach(scope, project.organization_id, notFound);
  const bound = boundProject(scope);
  if (bound !== undefined && bound !== project.name) throw new AppError("not_found", notFound);
  return project;
}

async function reachableKey(control: ControlDatabase, scope: Scope, path: Path): Promise<Key> {
  const id = path["key_id"] ?? "";
  const key = await getKey(control, id);
  const notFound = `The key ${JSON.stringify(id)} does not exist.`;
  requireReach(scope, key.organization_id, notFound);
  const bound = await boundProjectId(control, scope);
  if (bound !== undefined && bound !== key.project_id) throw new AppError("not_found", notFound);
  return key;
}

const identityRoute = route(validateKey, ({ scope: { key } }) =>
  json({
    organization_id: key.organizationId,
    organization: key.organizationName,
    project: key.projectName ?? null,
    key_id: key.keyId,
    key_name: key.keyName,
    operator: key.operator,
    role: key.role ?? null,
    person_id: key.person?.id ?? null,
    permissions: [...key.permissions],
  }),
);
