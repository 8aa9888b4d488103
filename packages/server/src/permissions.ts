/**
 * The permissions of callers and the roles that bundle them, as data: the source of the check of every operation, of the tables in
 * the docs, and of the test that tries every operation with every role. An operation names the one permission that it needs.
 * docs/adr/0241-people-and-roles.md
 */

interface PermissionDefinition {
  /** Completes "A caller with it may …". */
  readonly allows: string;
  /** Permissions that come with it. */
  readonly includes?: readonly string[];
}

const definitions = {
  inference: {
    allows: "call models: chat, completions, responses, embeddings, speech, transcription, moderations",
    includes: ["models_read"],
  },
  models_read: { allows: "list models, voices and prices" },
  telemetry_write: { allows: "send logs, metrics and traces" },
  telemetry_read: {
    allows: "query and export logs, metrics and traces, without recorded content",
    includes: ["spend_read"],
  },
  content_read: {
    allows: "see recorded prompts, completions, tool calls and transcripts in what `telemetry_read` shows",
  },
  spend_read: { allows: "see spend and costs" },
  configuration_read: {
    allows: "see the organization, projects, keys without secrets, people, roles, budgets and alert rules",
  },
  personal_keys: { allows: "create and revoke API keys of their own" },
  admin: {
    allows: "change projects, keys, people, roles, budgets and alert rules, and delete data",
    includes: ["configuration_read", "models_read", "spend_read"],
  },
  owner: { allows: "grant and remove the role `owner`", includes: ["admin", "provision"] },
  provision: { allows: "create, change and deactivate people and groups by SCIM" },
} as const satisfies Readonly<Record<string, PermissionDefinition>>;

export type Permission = keyof typeof definitions;
export const permissions = Object.keys(definitions) as readonly Permission[];
export const permissionTable: Readonly<Record<Permission, PermissionDefinition>> = definitions;

/** A session with an operator key of its own uses that key for these. */
export const administrative: ReadonlySet<string> = new Set<Permission>(["configuration_read", "admin", "owner"]);

/** What only people have, never an API key: a leaked key cannot create others that outlive it. */
const ofPeopleOnly: ReadonlySet<Permission> = new Set(["personal_keys", "owner"]);
export const keyPermissions = permissions.filter((permission) => !ofPeopleOnly.has(permission));

/** The permissions with those that they include, in the order of the table. */
export function withIncluded(granted: Iterable<Permission>): ReadonlySet<Permission> {
  const all = new Set(granted);
  // A set iterates over what is added meanwhile.
  for (const permission of all) {
    for (const included of permissionTable[permission].includes ?? []) all.add(included as Permission);
  }
  return new Set(permissions.filter((permission) => all.has(permission)));
}

/** The permissions without those that others of them include. */
export function withoutIncluded(granted: ReadonlySet<Permission>): readonly Permission[] {
  const included = new Set([...granted].flatMap((permission) => permissionTable[permission].includes ?? []));
  return [...granted].filter((permission) => !included.has(permission));
}

/**
 * What a key's own list of permissions grants. Before there were roles, `telemetry_read` showed recorded content; for keys it still
 * does. A key that must not see content has a role.
 */
export function permissionsOfKey(granted: readonly Permission[]): ReadonlySet<Permission> {
  const withContent: readonly Permission[] = granted.includes("telemetry_read")
    ? [...granted, "content_read"]
    : granted;
  return withIncluded(withContent.filter((permission) => !ofPeopleOnly.has(permission)));
}

/** What a role grants to a key. */
export function permissionsOfRoleKey(granted: Iterable<Permission>): ReadonlySet<Permission> {
  return new Set([...withIncluded(granted)].filter((permission) => !ofPeopleOnly.has(permission)));
}

interface RoleDefinition {
  /** For whom the role is. */
  readonly describes: string;
  readonly permissions: readonly Permission[];
}

export const builtInRoles = {
  owner: {
    describes: "is responsible for the organization",
    permissions: ["inference", "telemetry_write", "telemetry_read", "content_read", "personal_keys", "owner"],
  },
  admin: {
    describes: "administers it",
    permissions: ["inference", "telemetry_write", "telemetry_read", "content_read", "personal_keys", "admin"],
  },
  member: {
    describes: "builds applications",
    permissions: [
      "inference",
      "telemetry_write",
      "telemetry_read",
      "content_read",
      "configuration_read",
      "personal_keys",
    ],
  },
  viewer: {
    describes: "looks at telemetry and configuration, and changes nothing",
    permissions: ["telemetry_read", "models_read", "configuration_read"],
  },
  billing: { describes: "sees what calls cost", permissions: ["spend_read"] },
} as const satisfies Readonly<Record<string, RoleDefinition>>;

export type BuiltInRole = keyof typeof builtInRoles;
export const builtInRoleNames = Object.keys(builtInRoles) as readonly BuiltInRole[];

export function isBuiltInRole(role: string): role is BuiltInRole {
  return Object.hasOwn(builtInRoles, role);
}
