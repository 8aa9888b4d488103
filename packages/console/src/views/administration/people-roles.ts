/** The roles that people can have, for their names and for choices. */
import type { Role } from "../../api/people-types.ts";
import { requestJson } from "../../api/request.ts";
import { useQuery, type Query } from "../../api/use-query.ts";
import type { Page } from "./admin-lists.ts";

/** The built-in roles and those of the organization, or of all organizations. */
export function useRoles(organizationId?: string): Query<readonly Role[]> {
  return useQuery(
    async (signal) => {
      const query = { organization_id: organizationId, limit: 100 };
      return (await requestJson<Page<Role>>("admin/v1/roles", { query, signal })).data;
    },
    [organizationId],
  );
}

/** The name of a role to which a membership refers. */
export function roleName(roles: readonly Role[] | undefined, reference: string): string {
  return roles?.find(({ id }) => id === reference)?.name ?? reference;
}
