/** Routes of the admin API for memberships, under the rules of authority.ts and grants.ts. */
import type { Membership } from "../api/people.ts";
import {
  createMembershipOperation,
  deleteMembershipOperation,
  getMembershipOperation,
  listMembershipsOperation,
  updateMembershipOperation,
} from "../api/people-operations.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route } from "../http/route.ts";
import type { Scope } from "../tenant.ts";
import { boundProjectId, namedOrganization, requestedProject, requireReach } from "./authority.ts";
import type { ControlDatabase, Reader, Writer } from "./control-database.ts";
import { requireGrantable, requireRemovable } from "./grants.ts";
import { identifierParameter, pageRequest } from "./list-query.ts";
import { adminSource, removeMembership, setMembership, type MembershipRow } from "./memberships.ts";
import { listMemberships, toMembership } from "./people-list.ts";
import { replaceMembership, requireVisible, visibleMemberships } from "./administer-people.ts";

export function membershipRoutes(control: ControlDatabase): Route[] {
  /** Runs a change of a membership that the caller reaches. */
  async function change<T>(
    scope: Scope,
    path: Path,
    run: (transaction: Writer, row: MembershipRow) => Promise<T>,
  ): Promise<T> {
    const bound = await boundProjectId(control, scope);
    return control.change(async (transaction) => {
      const row = await requireReachable(transaction, scope, { path, bound });
      await requireRemovable(transaction, scope, [row]);
      return run(transaction, row);
    });
  }

  return [
    route(listMembershipsOperation, async ({ query, scope }) => {
      const visible = await visibleMemberships(control, scope, query);
      const project = await requestedProject(control, scope, identifierParameter(query, "project_id"));
      return json(
        await listMemberships(control, {
          ...pageRequest(query),
          visible: { ...visible, projectId: project },
          personId: identifierParameter(query, "person_id"),
        }),
      );
    }),
    route(createMembershipOperation, async ({ body, scope }) => {
      const organizationId = (await namedOrganization(control, scope, body.organization_id)) ?? scope.organizationId;
      const projectId = (await requestedProject(control, scope, body.project_id ?? undefined)) ?? null;
      // An administrator of a project may add any member of the organization to it.
      const visible = { organizationId: scope.key.operator ? undefined : scope.organizationId, projectId: undefined };
      const row = await control.change(async (transaction) => {
        await requireVisible(transaction, body.person_id, visible);
        await requireGrantable(transaction, scope, { organizationId, projectId, role: body.role });
        const grant = { personId: body.person_id, organizationId, projectId, role: body.role };
        return replaceMembership(transaction, scope, grant);
      });
      return json(toMembership(row), 201);
    }),
    route(getMembershipOperation, async ({ path, scope }) => {
      const bound = await boundProjectId(control, scope);
      return json(toMembership(await control.read((database) => requireReachable(database, scope, { path, bound }))));
    }),
    route(updateMembershipOperation, async ({ body, path, scope }) =>
      json(
        await change(scope, path, async (transaction, row): Promise<Membership> => {
          requireOwnSource(row);
          const { organization_id: organizationId, person_id: personId, project_id: projectId } = row;
          await requireGrantable(transaction, scope, { organizationId, projectId, role: body.role });
          return toMembership(
            await setMembership(transaction, personId, { organizationId, projectId, role: body.role }),
          );
        }),
      ),
    ),
    route(deleteMembershipOperation, async ({ path, scope }) =>
      json(
        await change(scope, path, async (transaction, row) => {
          await removeMembership(transaction, row);
          return toMembership(row);
        }),
      ),
    ),
  ];
}

type Path = Readonly<Record<string, string>>;

/** @throws AppError not_found, also if the membership is not the caller's to see */
async function requireReachable(
  database: Reader,
  scope: Scope,
  { bound, path }: { readonly path: Path; readonly bound: string | undefined },
): Promise<MembershipRow> {
  const id = path["membership_id"] ?? "";
  const notFound = `The membership ${JSON.stringify(id)} does not exist.`;
  const row = await database.selectFrom("memberships").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new AppError("not_found", notFound);
  requireReach(scope, row.organization_id, notFound);
  if (bound !== undefined && bound !== row.project_id) throw new AppError("not_found", notFound);
  return row;
}

/** Its source would set it again. @throws AppError conflict */
function requireOwnSource({ id, source }: MembershipRow): void {
  if (source === adminSource) return;
  throw new AppError(
    "conflict",
    `${id} is kept by ${JSON.stringify(source)}. Change it there, or add another membership.`,
  );
}
