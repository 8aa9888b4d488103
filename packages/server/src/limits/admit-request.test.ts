import assert from "node:assert/strict";
import { test } from "node:test";
import { createOrganizationOperation, listKeysOperation } from "../api/admin-operations.ts";
import type { AppError } from "../errors.ts";
import { Scope } from "../tenant.ts";
import { testKey } from "../../test/support/test-key.ts";
import { createRequestAdmission } from "./admit-request.ts";
import { createLimiter } from "./limiter.ts";
import { MonthlyUsage } from "./monthly-usage.ts";
import { silentLogger } from "../logger.ts";

test("an organization may send 3,000 requests to the admin API in a minute, with all its keys", async () => {
  let nowMs = 0;
  const usage = await MonthlyUsage.open({
    ledger: { add: async () => {}, read: async () => [] },
    logger: silentLogger,
  });
  const admit = createRequestAdmission(createLimiter({ defaults: { key: {}, organization: {} }, usage }), () => nowMs);
  const from = (keyId: string, organizationId = "org_1"): Scope => Scope.fromKey(testKey({ keyId, organizationId }));
  const admitted = (scope: Scope): void => assert.equal(admit(scope, listKeysOperation), undefined);
  for (let request = 0; request < 3_000; request += 1) admitted(from(`key_${request % 7}`));
  assert.throws(
    () => admit(from("key_new"), createOrganizationOperation),
    ({ code, retryAfterMs }: AppError) => code === "rate_limited" && retryAfterMs === 20,
  );
  admitted(from("key_other", "org_2"));
  nowMs += 20;
  admitted(from("key_new"));
  await usage.close();
});
