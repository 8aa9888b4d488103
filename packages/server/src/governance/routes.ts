/**
 * Serves the administration requests of the AI Refinery SDK by the functions and under the rules of the admin API.
 * docs/adr/0241-people-and-roles.md
 */
import { governance } from "../api/governance.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route } from "../http/route.ts";
import { boundProject, boundProjectId, requireReach } from "../tenancy/authority.ts";
import { createOrganization, getOrganization, listOrganizations } from "../tenancy/organizations.ts";
import { getProject, listProjects } from "../tenancy/projects.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { readArray } from "./array-page.ts";
import { keyRoutes } from "./key-routes.ts";
import { membershipRoutes } from "./membership-routes.ts";
import { errorForm, organizationOf } from "./requests.ts";
import { toSdkOrganization, toSdkProject } from "./sdk-objects.ts";
import { userRoutes } from "./user-routes.ts";

export function governanceRoutes(control: ControlDatabase): readonly Route[] {
  return [
    ...organizationRoutes(control),
    ...projectRoutes(control),
    ...userRoutes(control),
    ...membershipRoutes(control),
    ...keyRoutes(control),
  ];
}

function organizationRoutes(control: ControlDatabase): Route[] {
  return [
    route(
      governance.listOrganizations,
      async ({ query, scope }) => {
        const id = scope.key.operator ? undefined : scope.organizationId;
        return json(
          (await readArray(query, (page) => listOrganizations(control, { ...page, id }))).map(toSdkOrganization),
        );
      },
      errorForm,
    ),
    route(
      governance.createOrganization,
      async ({ body: { display_name: displayName, name, owner_user_id: owner }, scope }) => {
        scope.requireOperator("create an organization");
        if (displayName !== undefined && displayName !== name) {
          throw new AppError("unsupported_parameter", "display_name differs from name; an organization has one name.", {
            param: "display_name",
          });
        }
        if (owner !== undefined) {
          throw new AppError(
            "unsupported_parameter",
            "owner_user_id is not supported. Give the person the role owner with POST /admin/v1/memberships.",
            { param: "owner_user_id" },
          );
        }
        return json(toSdkOrganization(await createOrganization(control, { name })), 201);
      },
      errorForm,
    ),
    route(
      governance.ownOrganization,
      async ({ query, scope }) =>
        json(
          toSdkOrganization(await getOrganization(control, await organizationOf(control, scope, query.get("org_id")))),
        ),
      errorForm,
    ),
    route(
      governance.getOrganization,
      async ({ path, scope }) => {
        const id = path["org_id"] ?? "";
        requireReach(scope, id, `The organization ${JSON.stringify(id)} does not exist.`);
        return json(toSdkOrganization(await getOrganization(control, id)));
      },
      errorForm,
    ),
  ];
}

function projectRoutes(control: ControlDatabase): Route[] {
  return [
    route(
      governance.listProjects,
      async ({ query, scope }) => {
        const organizationId = await organizationOf(control, scope, query.get("org_id"));
        const id = await boundProjectId(control, scope);
        const projects = await readArray(query, (page) => listProjects(control, { ...page, organizationId, id }));
        return json(projects.map(toSdkProject));
      },
      errorForm,
    ),
    route(
      governance.getProject,
      async ({ path, scope }) => {
        const id = path["project_id"] ?? "";
        const notFound = `The project ${JSON.stringify(id)} does not exist.`;
        const project = await getProject(control, id);
        requireReach(scope, project.organization_id, notFound);
        const bound = boundProject(scope);
        if (bound !== undefined && bound !== project.name) throw new AppError("not_found", notFound);
        return json(toSdkProject(project));
      },
      errorForm,
    ),
  ];
}
