/** Renders docs/reference/permissions.md: the permissions, the roles, and which operation needs which. */
import { operations } from "../packages/server/src/api/index.ts";
import type { Operation } from "../packages/server/src/api/operation.ts";
import {
  builtInRoleNames,
  builtInRoles,
  permissions,
  permissionTable,
  withIncluded,
  type Permission,
} from "../packages/server/src/permissions.ts";

const granted = Object.fromEntries(
  builtInRoleNames.map((name) => [name, withIncluded(builtInRoles[name].permissions)] as const),
);

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

function header(cells: readonly string[]): string[] {
  return [row(cells), row(cells.map(() => "---"))];
}

function marks(permission: Permission): string[] {
  return builtInRoleNames.map((name) => (granted[name]!.has(permission) ? "✓" : ""));
}

function permissionRow(name: Permission): string {
  const { allows, includes = [] } = permissionTable[name];
  return row([`\`${name}\``, allows, includes.map((each) => `\`${each}\``).join(", "), ...marks(name)]);
}

function operationRow({ method, operator, path, permission }: Operation): string {
  const endpoint = `\`${method} ${path.replaceAll("{+", "{")}\``;
  if (permission === "any") return row([endpoint, "any", ...builtInRoleNames.map(() => "✓")]);
  if (operator === true) return row([endpoint, `\`${permission}\`, operator`, ...builtInRoleNames.map(() => "")]);
  return row([endpoint, `\`${permission}\``, ...marks(permission as Permission)]);
}

export function renderPermissionsDocument(): string {
  const checked = operations.filter(({ permission }) => permission !== "none");
  const sections = [...Map.groupBy(checked, ({ tag }) => tag)].flatMap(([tag, ofTag]) => [
    `### ${tag}`,
    "",
    ...header(["endpoint", "permission", ...builtInRoleNames]),
    ...ofTag.map(operationRow),
    "",
  ]);
  return [
    "# Permissions",
    "",
    "Generated from the server's table of permissions and roles. [People](../administer/people.md) explains how roles are given, and",
    "[Organizations, projects and keys](../administer/README.md#permissions) how keys have permissions.",
    "",
    "## Permissions of the built-in roles",
    "",
    ...header(["permission", "allows to", "includes", ...builtInRoleNames]),
    ...permissions.map(permissionRow),
    "",
    "- A key's own `telemetry_read` includes `content_read`. A role's does not.",
    "- Keys never have `personal_keys` or `owner`.",
    "",
    "## Endpoints",
    "",
    "An operator may call every endpoint for which the operator's own key or role has the permission. “operator” marks those that nobody else may call.",
    "Endpoints that need no key, such as `GET /healthz`, are not listed.",
    "",
    ...sections,
  ].join("\n");
}
