/** Routes of the admin API for groups of alert rules, under the rules of tenancy/authority.ts. */
import { compileGroup } from "../alert-rules/compile-group.ts";
import {
  createAlertGroupOperation,
  deleteAlertGroupOperation,
  getAlertGroupOperation,
  listAlertGroupsOperation,
  updateAlertGroupOperation,
  type AlertGroup,
} from "../api/alert-groups.ts";
import type { AlertGroupDefinition } from "../api/alert-rules.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route } from "../http/route.ts";
import { inputLimit } from "../input-limits.ts";
import {
  alertGroupNotFound,
  createAlertGroup,
  deleteAlertGroup,
  getAlertGroup,
  listAlertGroups,
  updateAlertGroup,
} from "../tenancy/alert-groups.ts";
import { listedOrganization, namedOrganization, requireReach, requireWholeOrganization } from "../tenancy/authority.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { pageRequest } from "../tenancy/list-query.ts";
import type { Scope } from "../tenant.ts";

/** Organizations share the time of the server; the configuration may have shorter intervals. */
const shortestIntervalMs = inputLimit({
  area: "Alerts",
  bounds: "Interval of a group that is created through the admin API, at least",
  value: 10_000,
  unit: "ms",
  error: "invalid_request",
});
/** Problems of one message. */
const maximumProblems = 5;

export function alertGroupRoutes(control: ControlDatabase): readonly Route[] {
  const reachable = async (scope: Scope, path: Readonly<Record<string, string>>): Promise<AlertGroup> => {
    requireWholeOrganization(scope, "use alert rules");
    const id = path["alert_group_id"] ?? "";
    const group = await getAlertGroup(control, id);
    requireReach(scope, group.organization_id, alertGroupNotFound(id));
    return group;
  };
  return [
    route(listAlertGroupsOperation, async ({ query, scope }) => {
      requireWholeOrganization(scope, "use alert rules");
      const organizationId = await listedOrganization(control, scope, query);
      return json(
        await listAlertGroups(control, { ...pageRequest(query), organizationId, name: query.get("name") ?? undefined }),
      );
    }),
    route(createAlertGroupOperation, async ({ body, scope }) => {
      requireWholeOrganization(scope, "use alert rules");
      const { organization_id, ...definition } = body;
      await check(definition);
      const organizationId = (await namedOrganization(control, scope, organization_id)) ?? scope.organizationId;
      return json(await createAlertGroup(control, organizationId, definition), 201);
    }),
    route(getAlertGroupOperation, async ({ path, scope }) => json(await reachable(scope, path))),
    route(updateAlertGroupOperation, async ({ body, path, scope }) => {
      const { id } = await reachable(scope, path);
      return json(await updateAlertGroup(control, id, { changes: body, check }));
    }),
    route(deleteAlertGroupOperation, async ({ path, scope }) => {
      const { id } = await reachable(scope, path);
      return json(await deleteAlertGroup(control, id));
    }),
  ];
}

/** @throws AppError invalid_request that names the group, the rule and the position */
async function check(definition: AlertGroupDefinition): Promise<void> {
  const compiled = await compileGroup(definition);
  if ("problems" in compiled) {
    const { problems } = compiled;
    const shown = problems.slice(0, maximumProblems).map(({ message }) => message);
    const more = problems.length - shown.length;
    throw new AppError("invalid_request", [...shown, ...(more > 0 ? [`and ${more} more problems`] : [])].join("; "), {
      param: problems[0]!.path.join("."),
    });
  }
  if (compiled.intervalMs < shortestIntervalMs) {
    throw new AppError(
      "invalid_request",
      `interval is ${JSON.stringify(definition.interval)}; it must be at least ${shortestIntervalMs / 1000}s.`,
      { param: "interval" },
    );
  }
}
