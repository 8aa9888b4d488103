/** Serves the requests of the AI Refinery SDK about memberships in organizations. */
import { governance, type SdkMembership, type SdkRole } from "../api/governance.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route } from "../http/route.ts";
import { replaceMembership, requireVisible } from "../tenancy/administer-people.ts";
import type { ControlDatabase, Reader } from "../tenancy/control-database.ts";
import { requireGrantable, requireRemovable } from "../tenancy/grants.ts";
import { adminSource, removeMembership, type MembershipRow } from "../tenancy/memberships.ts";
import { listMemberships, toMembership } from "../tenancy/people-list.ts";
import type { Scope } from "../tenant.ts";
import { readArray } from "./array-page.ts";
import { errorForm, permissionsOfRoles, wholeOrganizationOf } from "./requests.ts";
import { fromSdkRole, toSdkMembership } from "./sdk-objects.ts";

export function membershipRoutes(control: ControlDatabase): Route[] {
  const show = async (database: Reader, row: MembershipRow): Promise<SdkMembership> =>
    toSdkMembership(toMembership(row), await permissionsOfRoles(database, [row]));

  const setRole = async (
    scope: Scope,
    {
      organizationId,
      personId,
      role: sdkRole,
    }: { organizationId: string; personId: string; role?: SdkRole | undefined },
  ): Promise<SdkMembership> => {
    const role = fromSdkRole(sdkRole);
    const visible = { organizationId: scope.key.operator ? undefined : organizationId, projectId: undefined };
    return control.change(async (transaction) => {
      await requireVisible(transaction, personId, visible);
      const grant = { organizationId, projectId: null, role };
      await requireGrantable(transaction, scope, grant);
      return show(transaction, await replaceMembership(transaction, scope, { personId, ...grant }));
    });
  };

  return [
    route(
      governance.listMemberships,
      async ({ query, scope }) => {
        const organizationId = await wholeOrganizationOf(control, scope, query.get("org_id"));
        const visible = { organizationId, projectId: null };
        const all = await readArray(query, (page) =>
          listMemberships(control, { ...page, visible, personId: undefined }),
        );
        const roles = await control.read((database) => permissionsOfRoles(database, all));
        return json(all.map((membership) => toSdkMembership(membership, roles)));
      },
      errorForm,
    ),
    route(
      governance.createMembership,
      async ({ body: { org_id: named, role, user_id: personId }, scope }) => {
        const organizationId = await wholeOrganizationOf(control, scope, named);
        return json(await setRole(scope, { organizationId, personId, role }), 201);
      },
      errorForm,
    ),
    route(
      governance.updateMembershipRole,
      async ({ body: { org_id: named, role, user_id: personId }, query, scope }) => {
        const organizationId = await wholeOrganizationOf(control, scope, named ?? query.get("org_id"));
        return json(await setRole(scope, { organizationId, personId, role }));
      },
      errorForm,
    ),
    route(
      governance.deleteMembership,
      async ({ body: { org_id: named, user_id: personId }, scope }) => {
        const organizationId = await wholeOrganizationOf(control, scope, named);
        return json(
          await control.change(async (transaction) => {
            const row = await transaction
              .selectFrom("memberships")
              .selectAll()
              .where("person_id", "=", personId)
              .where("organization_id", "=", organizationId)
              .where("project_id", "is", null)
              .where("source", "=", adminSource)
              .executeTakeFirst();
            if (row === undefined) {
              throw new AppError(
                "not_found",
                `The organization has no membership of the person ${JSON.stringify(personId)} that can be removed here.`,
                { param: "user_id" },
              );
            }
            await requireRemovable(transaction, scope, [row]);
            const before = await show(transaction, row);
            await removeMembership(transaction, row);
            return before;
          }),
        );
      },
      errorForm,
    ),
  ];
}
