/** Routes of the admin API for roles, under the rules of authority.ts and grants.ts. */
import {
  createRoleOperation,
  deleteRoleOperation,
  getRoleOperation,
  listRolesOperation,
  updateRoleOperation,
} from "../api/people-operations.ts";
import { json, route, type Route } from "../http/route.ts";
import { withIncluded } from "../permissions.ts";
import type { Scope } from "../tenant.ts";
import { listedOrganization, namedOrganization, requireReach, requireWholeOrganization } from "./authority.ts";
import type { ControlDatabase, Writer } from "./control-database.ts";
import { requireMayGrant } from "./grants.ts";
import { pageRequest } from "./list-query.ts";
import {
  changeRole,
  insertRole,
  listRoles,
  removeRole,
  requireRoleRow,
  roleNotFound,
  toRole,
  type RoleRow,
} from "./organization-roles.ts";

export function roleRoutes(control: ControlDatabase): Route[] {
  /** Runs a change of a role that the caller reaches and could grant. */
  function change<T>(
    scope: Scope,
    path: Readonly<Record<string, string>>,
    run: (transaction: Writer, row: RoleRow) => Promise<T>,
  ): Promise<T> {
    requireWholeOrganization(scope, "change a role");
    const id = path["role_id"] ?? "";
    return control.change(async (transaction) => {
      const row = await requireRoleRow(transaction, id);
      requireReach(scope, row.organization_id, roleNotFound(id));
      requireMayGrant(scope, toRole(row).permissions, `The role ${JSON.stringify(row.name)}`);
      return run(transaction, row);
    });
  }

  return [
    route(listRolesOperation, async ({ query, scope }) =>
      json(
        await listRoles(control, {
          ...pageRequest(query),
          organizationId: await listedOrganization(control, scope, query),
        }),
      ),
    ),
    route(createRoleOperation, async ({ body, scope }) => {
      requireWholeOrganization(scope, "define a role");
      requireMayGrant(scope, withIncluded(body.permissions), `The role ${JSON.stringify(body.name)}`);
      const { organization_id, ...input } = body;
      const organizationId = (await namedOrganization(control, scope, organization_id)) ?? scope.organizationId;
      return json(await control.change((transaction) => insertRole(transaction, { ...input, organizationId })), 201);
    }),
    route(getRoleOperation, async ({ path, scope }) => {
      const id = path["role_id"] ?? "";
      const row = await control.read((database) => requireRoleRow(database, id));
      requireReach(scope, row.organization_id, roleNotFound(id));
      return json(toRole(row));
    }),
    route(updateRoleOperation, async ({ body, path, scope }) => {
      if (body.permissions !== undefined) {
        requireMayGrant(scope, withIncluded(body.permissions), "The changed role");
      }
      return json(await change(scope, path, (transaction, row) => changeRole(transaction, row, body)));
    }),
    route(deleteRoleOperation, async ({ path, scope }) =>
      json(
        await change(scope, path, async (transaction, row) => {
          await removeRole(transaction, row);
          return toRole(row);
        }),
      ),
    ),
  ];
}
