/** Who is signed in, as the API reports it. */
import type { Session } from "../api/sessions.ts";
import { withIncluded } from "../permissions.ts";
import type { CheckedSession } from "../session.ts";
import type { CheckedKey } from "../tenant.ts";

/** @param key the key that stands for the session in this request */
export function toSession(session: CheckedSession, key: CheckedKey): Session {
  const common = {
    object: "session" as const,
    id: session.sessionId,
    organization_id: key.organizationId,
    organization: key.organizationName,
    project: key.projectName ?? null,
    expires_at: Math.floor(session.expiresAt),
  };
  if (session.person !== undefined) {
    const { email, id, memberships, name } = session.person;
    const organizations = new Map(memberships.map((each) => [each.organizationId, each.organizationName]));
    return {
      ...common,
      person: { id, name, email },
      role: key.role ?? null,
      provider: session.provider ?? null,
      organizations: [...organizations].map(([organizationId, organization]) => ({
        id: organizationId,
        name: organization,
      })),
      key_id: key.keyId,
      key_name: key.keyName,
      operator_key_id: null,
      operator_key_name: null,
      operator: key.operator,
      permissions: [...key.permissions],
    };
  }
  const { operatorKey } = session;
  return {
    ...common,
    person: null,
    role: null,
    provider: null,
    organizations: [{ id: key.organizationId, name: key.organizationName }],
    key_id: session.key.keyId,
    key_name: session.key.keyName,
    operator_key_id: operatorKey?.keyId ?? null,
    operator_key_name: operatorKey?.keyName ?? null,
    operator: (operatorKey ?? session.key).operator,
    permissions: [...withIncluded([...session.key.permissions, ...(operatorKey?.permissions ?? [])])],
  };
}
