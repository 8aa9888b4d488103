/** Rotates API keys: a new key takes over the rights of an old one, which is revoked or expires after a grace period. */
import type { KeyRotate, KeyRotation } from "../api/key-rotation.ts";
import { AppError } from "../errors.ts";
import type { ControlDatabase } from "./control-database.ts";
import { insertKey, requireKey, toKey } from "./keys.ts";
import { requireRemainingOperator } from "./operators.ts";
import { nowSeconds, parsePermissions } from "./row-values.ts";

/** @throws AppError not_found, conflict when the key is revoked, or invalid_request when the new key would have expired */
export async function rotateKey(
  control: ControlDatabase,
  id: string,
  { grace_seconds: graceSeconds = 0, expires_at: expiresAt }: KeyRotate,
): Promise<KeyRotation> {
  return control.change(async (transaction) => {
    const old = await requireKey(transaction, id);
    if (old.revoked_at !== null) {
      throw new AppError("conflict", `${id} is revoked; create a new key instead of rotating it.`);
    }
    const created = await insertKey(transaction, {
      organizationId: old.organization_id,
      project_id: old.project_id,
      name: old.name,
      ...(old.role === null ? { permissions: parsePermissions(old.permissions) } : { role: old.role }),
      personId: old.person_id,
      allowed_models: toKey(old).allowed_models,
      record_content: toKey(old).record_content,
      limits: toKey(old).limits,
      operator: old.operator === 1,
      expires_at: expiresAt === undefined ? old.expires_at : expiresAt,
      limitsKeyId: old.limits_key_id ?? old.id,
    });
    const now = nowSeconds();
    const ending =
      graceSeconds === 0
        ? { revoked_at: now }
        : { expires_at: Math.min(now + graceSeconds, old.expires_at ?? Number.POSITIVE_INFINITY) };
    await requireRemainingOperator(transaction, async () => {
      await transaction.updateTable("keys").set(ending).where("id", "=", id).execute();
    });
    return { ...created, replaced: toKey({ ...old, ...ending }) };
  });
}
