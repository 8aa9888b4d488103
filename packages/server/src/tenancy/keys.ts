/** API keys in the control database. A secret leaves this file once, in the response to its creation. */
import type { Selectable } from "kysely";
import type { Page } from "../api/admin.ts";
import type { Key, KeyCreate, KeyUpdate, KeyWithSecret } from "../api/keys.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { permissionsOfKey, type Permission } from "../permissions.ts";
import type { ControlDatabase, Reader, Writer } from "./control-database.ts";
import {
  newIdentifier,
  requireNotArchived,
  requireActiveOrganization,
  requireRoom,
  changeLimits,
  formatAllowedModels,
  parseAllowedModels,
  parseLimits,
  parsePermissions,
  nowSeconds,
} from "./row-values.ts";
import { requireRemainingOperator } from "./operators.ts";
import { requireRole, type ResolvedRole } from "./roles.ts";
import { contains, toPage, type PageRequest } from "./list-query.ts";
import { hashSecret, newSecret, redactSecret } from "./secret.ts";
import type { ControlTables } from "./tables.ts";

export interface KeyFilter extends PageRequest {
  readonly organizationId?: string | undefined;
  readonly projectId?: string | undefined;
  readonly name?: string | undefined;
  /** Only the personal keys of this person. */
  readonly personId?: string | undefined;
  readonly includeRevoked?: boolean | undefined;
}

/** Like `KeyCreate`, with a resolved organization. */
export interface NewKey extends Omit<KeyCreate, "organization_id"> {
  readonly organizationId: string;
  /** Whose personal key it is. */
  readonly personId?: string | null;
  /** The key whose usage counts towards the new key's limits, too. */
  readonly limitsKeyId?: string;
}

const maximumKeys = inputLimit({
  area: "Administration",
  bounds: "API keys of one organization that are not revoked",
  value: 10_000,
  error: "conflict",
});

export const ordinaryPermissions: readonly Permission[] = ["inference", "telemetry_write", "telemetry_read"];

export async function listKeys(control: ControlDatabase, filter: KeyFilter): Promise<Page<Key>> {
  return control.read(async (database) => {
    let query = database
      .selectFrom("keys")
      .selectAll()
      .orderBy("id", filter.order ?? "asc")
      .limit(filter.limit + 1);
    if (filter.after !== undefined) query = query.where("id", filter.order === "desc" ? "<" : ">", filter.after);
    if (filter.search !== undefined) query = query.where(contains(["name", "id", "redacted_secret"], filter.search));
    if (filter.organizationId !== undefined) query = query.where("organization_id", "=", filter.organizationId);
    if (filter.projectId !== undefined) query = query.where("project_id", "=", filter.projectId);
    if (filter.personId !== undefined) query = query.where("person_id", "=", filter.personId);
    if (filter.name !== undefined) query = query.where("name", "=", filter.name);
    if (filter.includeRevoked !== true) query = query.where("revoked_at", "is", null);
    return toPage(await query.execute(), filter.limit, toKey);
  });
}

/** @throws AppError not_found */
export async function getKey(control: ControlDatabase, id: string): Promise<Key> {
  return control.read(async (database) => toKey(await requireKey(database, id)));
}

/** The key under which the limits of this one count. @throws AppError not_found */
export async function getLimitsKeyId(control: ControlDatabase, id: string): Promise<string> {
  return control.read(async (database) => (await requireKey(database, id)).limits_key_id ?? id);
}

/** @throws AppError not_found (organization or project), conflict (one is archived, or too many keys) or invalid_request */
export async function createKey(control: ControlDatabase, input: NewKey): Promise<KeyWithSecret> {
  return control.change(async (transaction) => {
    await requireActiveOrganization(transaction, input.organizationId);
    if (input.project_id != null) await requireOwnProject(transaction, input.organizationId, input.project_id);
    return insertKey(transaction, input);
  });
}

/** Like `createKey`, in a transaction that has checked the organization and the project. */
export async function insertKey(
  transaction: Writer,
  input: NewKey,
  { secret, configured }: { secret: string; configured: boolean } = { secret: newSecret(), configured: false },
): Promise<KeyWithSecret> {
  await requireRoom(transaction, {
    table: "keys",
    endedAt: "revoked_at",
    organizationId: input.organizationId,
    maximum: maximumKeys,
    what: "API keys",
    remedy: "Revoke",
  });
  const role = await roleOf(transaction, input);
  const granted = role === undefined ? [...new Set(input.permissions ?? ordinaryPermissions)] : [];
  checkPermissions(input, role?.permissions ?? permissionsOfKey(granted));
  checkExpiry(input.expires_at);
  const row: KeyRow = {
    id: newIdentifier("key"),
    organization_id: input.organizationId,
    project_id: input.project_id ?? null,
    name: input.name,
    secret_hash: hashSecret(secret),
    redacted_secret: redactSecret(secret),
    permissions: JSON.stringify(granted),
    limits: JSON.stringify(changeLimits({}, input.limits)),
    operator: input.operator === true ? 1 : 0,
    configured: configured ? 1 : 0,
    created_at: nowSeconds(),
    expires_at: input.expires_at ?? null,
    revoked_at: null,
    last_used_at: null,
    limits_key_id: input.limitsKeyId ?? null,
    person_id: input.personId ?? null,
    role: role?.reference ?? null,
    allowed_models: formatAllowedModels(input.allowed_models),
    record_content: input.record_content === false ? 0 : 1,
  };
  await transaction.insertInto("keys").values(row).execute();
  return { ...toKey(row), secret };
}

/** @throws AppError not_found, invalid_request, or conflict when it is revoked or no operator's key would be left */
export async function updateKey(control: ControlDatabase, id: string, input: KeyUpdate): Promise<Key> {
  return control.change(async (transaction) => {
    const row = await requireKey(transaction, id);
    if (row.revoked_at !== null) throw new AppError("conflict", `${id} is revoked and can no longer change.`);
    checkExpiry(input.expires_at);
    const changes = {
      name: input.name ?? row.name,
      limits: JSON.stringify(changeLimits(parseLimits(row.limits), input.limits)),
      expires_at: input.expires_at === undefined ? row.expires_at : input.expires_at,
      allowed_models:
        input.allowed_models === undefined ? row.allowed_models : formatAllowedModels(input.allowed_models),
      record_content: input.record_content === undefined ? row.record_content : Number(input.record_content),
    };
    await transaction.updateTable("keys").set(changes).where("id", "=", id).execute();
    return toKey({ ...row, ...changes });
  });
}

/**
 * Revokes the key permanently. Idempotent.
 * @throws AppError not_found, or conflict when no operator's key would be left
 */
export async function revokeKey(control: ControlDatabase, id: string): Promise<Key> {
  return control.change(async (transaction) => {
    const row = await requireKey(transaction, id);
    if (row.revoked_at !== null) return toKey(row);
    const revoked = { revoked_at: nowSeconds() };
    await requireRemainingOperator(transaction, async () => {
      await transaction.updateTable("keys").set(revoked).where("id", "=", id).execute();
    });
    return toKey({ ...row, ...revoked });
  });
}

/** @throws AppError invalid_request */
async function roleOf(
  database: Reader,
  { role, organizationId, permissions }: NewKey,
): Promise<ResolvedRole | undefined> {
  if (role === undefined) return undefined;
  if (permissions !== undefined) {
    throw new AppError("invalid_request", "role and permissions are both set; send one of them.", { param: "role" });
  }
  const found = await requireRole(database, organizationId, role);
  if (found.permissions.has("owner")) {
    throw new AppError("invalid_request", 'role is "owner"; only people can be owners. Use "admin".', {
      param: "role",
    });
  }
  return found;
}

function checkPermissions(input: NewKey, granted: ReadonlySet<Permission>): void {
  if (input.operator === true && !granted.has("admin")) {
    throw new AppError("invalid_request", 'operator is true; this requires the permission "admin" in permissions.', {
      param: "operator",
    });
  }
  // It could create a key that is not bound.
  if (input.project_id != null && granted.has("admin")) {
    throw new AppError(
      "invalid_request",
      `project_id is ${JSON.stringify(input.project_id)}; a key with the permission "admin" cannot be bound to a project.`,
      { param: "project_id" },
    );
  }
}

function checkExpiry(expiresAt: number | null | undefined): void {
  if (expiresAt != null && expiresAt <= nowSeconds()) {
    throw new AppError(
      "invalid_request",
      `expires_at is ${expiresAt}, which is in the past; expected a UNIX time in seconds after now (${nowSeconds()}).`,
      { param: "expires_at" },
    );
  }
}

export async function requireOwnProject(transaction: Writer, organizationId: string, projectId: string): Promise<void> {
  const project = await transaction
    .selectFrom("projects")
    .select(["id", "archived_at"])
    .where("id", "=", projectId)
    .where("organization_id", "=", organizationId)
    .executeTakeFirst();
  if (project === undefined) {
    throw new AppError("not_found", `The organization does not have the project ${JSON.stringify(projectId)}.`, {
      param: "project_id",
    });
  }
  requireNotArchived(project);
}

export async function requireKey(database: Reader, id: string): Promise<KeyRow> {
  const row = await database.selectFrom("keys").selectAll().where("id", "=", id).executeTakeFirst();
  if (row === undefined) throw new AppError("not_found", `The key ${JSON.stringify(id)} does not exist.`);
  return row;
}

type KeyRow = Selectable<ControlTables["keys"]>;

export function toKey(row: KeyRow): Key {
  return {
    object: "key",
    id: row.id,
    organization_id: row.organization_id,
    project_id: row.project_id,
    name: row.name,
    redacted_secret: row.redacted_secret,
    permissions: parsePermissions(row.permissions),
    role: row.role,
    person_id: row.person_id,
    limits: parseLimits(row.limits) as Key["limits"],
    allowed_models: parseAllowedModels(row.allowed_models),
    record_content: row.record_content !== 0,
    operator: row.operator === 1,
    created_at: row.created_at,
    expires_at: row.expires_at,
    revoked_at: row.revoked_at,
    last_used_at: row.last_used_at,
  };
}
