/** Loads a key with its organization and project from the control database, and says why it is refused. */
import type { CheckedKey } from "../tenant.ts";
import type { Reader } from "./control-database.ts";
import { loadRights } from "./key-rights.ts";
import { parseAllowedModels, parseLimits } from "./row-values.ts";

/** A key as it was loaded; whether it is valid depends on the time. */
export interface KnownKey {
  readonly hash: string;
  readonly key: CheckedKey;
  readonly expiresMs: number;
  /** Why the key is refused, regardless of its expiry. */
  readonly refusal: string | undefined;
  /** UNIX milliseconds of the last use that was noted. */
  usedMs: number;
}

/** Why the key is refused at this time; undefined if it is valid. */
export function refusalOf({ refusal, expiresMs }: KnownKey, nowMs: number): string | undefined {
  return refusal ?? (nowMs >= expiresMs ? "This API key has expired." : undefined);
}

export async function loadKey(
  database: Reader,
  by: { readonly id: string } | { readonly secretHash: string },
): Promise<KnownKey | undefined> {
  const row = await database
    .selectFrom("keys")
    .innerJoin("organizations", "organizations.id", "keys.organization_id")
    .leftJoin("projects", "projects.id", "keys.project_id")
    .where("id" in by ? "keys.id" : "keys.secret_hash", "=", "id" in by ? by.id : by.secretHash)
    .select([
      "keys.secret_hash as hash",
      "keys.id as keyId",
      "keys.name as keyName",
      "keys.organization_id as organizationId",
      "keys.permissions",
      "keys.role",
      "keys.person_id as personId",
      "keys.allowed_models as keyModels",
      "keys.record_content as recordContent",
      "keys.limits as keyLimits",
      "keys.limits_key_id as limitsKeyId",
      "keys.operator",
      "keys.expires_at",
      "keys.revoked_at",
      "keys.last_used_at",
      "organizations.name as organizationName",
      "organizations.limits as organizationLimits",
      "organizations.allowed_models",
      "organizations.archived_at as organizationArchivedAt",
      "projects.name as projectName",
      "projects.archived_at as projectArchivedAt",
    ])
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const rights = await loadRights(database, row);
  return {
    hash: row.hash,
    key: {
      keyId: row.keyId,
      keyName: row.keyName,
      organizationId: row.organizationId,
      organizationName: row.organizationName,
      operator: row.operator === 1,
      projectName: row.projectName ?? rights.projectName,
      person: rights.person,
      role: rights.role,
      permissions: rights.permissions,
      keyLimits: parseLimits(row.keyLimits),
      limitsKeyId: row.limitsKeyId ?? row.keyId,
      organizationLimits: parseLimits(row.organizationLimits),
      allowedModels: parseAllowedModels(row.allowed_models) ?? undefined,
      narrowedModels: rights.models,
      recordsContent: row.recordContent !== 0,
    },
    expiresMs: row.expires_at === null ? Number.POSITIVE_INFINITY : row.expires_at * 1000,
    refusal: permanentRefusal(row) ?? rights.refusal,
    usedMs: (row.last_used_at ?? 0) * 1000,
  };
}

function permanentRefusal(row: {
  readonly revoked_at: number | null;
  readonly organizationArchivedAt: number | null;
  readonly projectArchivedAt: number | null;
}): string | undefined {
  if (row.organizationArchivedAt !== null) return "The organization of this API key has been archived.";
  if (row.projectArchivedAt !== null) return "The project that this API key is bound to has been archived.";
  if (row.revoked_at !== null) return "This API key has been revoked.";
  return undefined;
}
