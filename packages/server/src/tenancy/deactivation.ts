/** People whose access to one organization its identity provider has ended by SCIM. */
import { sql, type Expression, type SqlBool } from "kysely";

/** For queries of `memberships`: whether the provider of the organization has not deactivated the person. */
export function isActiveMembership(): Expression<SqlBool> {
  return sql<SqlBool>`not exists (select 1 from scim_users where scim_users.person_id = memberships.person_id and scim_users.organization_id = memberships.organization_id and scim_users.active = 0)`;
}
