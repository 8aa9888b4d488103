/** A checked key with all permissions except the operator's, for tests. */
import { permissions } from "../../src/permissions.ts";
import type { CheckedKey } from "../../src/tenant.ts";

export function testKey(changes: Partial<CheckedKey> = {}): CheckedKey {
  return {
    keyId: "key_test",
    keyName: "test",
    organizationId: "org_test",
    organizationName: "test-org",
    operator: false,
    projectName: undefined,
    permissions: new Set(permissions),
    keyLimits: {},
    limitsKeyId: changes.keyId ?? "key_test",
    organizationLimits: {},
    allowedModels: undefined,
    ...changes,
  };
}
