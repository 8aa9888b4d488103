/** What a server of a fleet does (`server.role`): it takes requests that need certain permissions, and no others. */
import type { Permission } from "./permissions.ts";

export const serverRoles = ["all", "gateway", "ingest", "query"] as const;
export type ServerRole = (typeof serverRoles)[number];

/** Requests that need none of these, such as administration, sign-in and health, are for every server. */
const rolesByPermission: Readonly<Partial<Record<string, ServerRole>>> = {
  inference: "gateway",
  models_read: "gateway",
  telemetry_write: "ingest",
  telemetry_read: "query",
  spend_read: "query",
} satisfies Partial<Record<Permission, ServerRole>>;

/** The role beside `all` that takes requests with the permission; undefined if every role does. */
export function roleFor(permission: string): ServerRole | undefined {
  return rolesByPermission[permission];
}

/** Whether a server with the role takes requests that need the permission. */
export function takes(role: ServerRole, permission: string): boolean {
  const needed = roleFor(permission);
  return role === "all" || needed === undefined || needed === role;
}
