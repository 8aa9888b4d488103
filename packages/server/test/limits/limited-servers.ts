/** Limiters as servers have them, which share their limits through one ledger. */
import { setImmediate } from "node:timers/promises";
import type { Admission } from "../../src/limits/admission.ts";
import { createLimiter, type Limiter } from "../../src/limits/limiter.ts";
import { MonthlyUsage } from "../../src/limits/monthly-usage.ts";
import type { LimitLedger } from "../../src/limits/shared/limit-ledger.ts";
import { SharedLimits, type SharedLimitOptions } from "../../src/limits/shared/shared-limits.ts";
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { Scope, type Limits } from "../../src/tenant.ts";

export interface LimitedServer {
  readonly limiter: Limiter;
  readonly shared: SharedLimits;
}

export async function limitedServer(
  ledger: LimitLedger,
  options: Partial<SharedLimitOptions> & { readonly key?: Limits } = {},
): Promise<LimitedServer> {
  const usage = await MonthlyUsage.open({
    ledger: { add: async () => {}, read: async () => [] },
    logger: silentLogger,
  });
  // A slow machine must not look like an unreachable ledger.
  const shared = new SharedLimits({
    ledger,
    whenUnreachable: "refuse",
    timeoutMs: 30_000,
    logger: silentLogger,
    ...options,
  });
  const limiter = createLimiter({ defaults: { key: options.key ?? {}, organization: {} }, usage, shared });
  return { limiter, shared };
}

export function scope(keyId = "key-1", organization: Limits = {}): Scope {
  return Scope.fromKey({
    keyId,
    keyName: `name of ${keyId}`,
    organizationId: "org-1",
    organizationName: "name of org-1",
    operator: false,
    projectName: undefined,
    permissions: new Set(["inference"]),
    keyLimits: {},
    limitsKeyId: keyId,
    organizationLimits: organization,
    allowedModels: undefined,
  });
}

/** Sends calls until one is refused. @returns how many were admitted */
export async function admitUntilRefused({ limiter }: LimitedServer, atOnce = 50): Promise<number> {
  let admitted = 0;
  for (;;) {
    const outcomes = await Promise.all(Array.from({ length: atOnce }, () => tryCall(limiter)));
    admitted += outcomes.filter((outcome) => outcome === "admitted").length;
    if (outcomes.includes("rate_limited")) return admitted;
  }
}

/** A call that ends at once. */
export async function tryCall(limiter: Limiter, keyId?: string): Promise<string> {
  try {
    (await limiter.admit(scope(keyId), { estimatedTokens: 1 })).settle({ tokens: 1 });
    return "admitted";
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

/** Repeats a call until it is admitted, since another process may still have to report what it gave back. */
export async function untilAdmitted(admit: () => Promise<Admission>): Promise<Admission> {
  for (;;) {
    try {
      return await admit();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "rate_limited") throw error;
      await setImmediate();
    }
  }
}

/** Repeats a call, which ends at once, until it is refused. */
export async function untilRefused(admit: () => Promise<Admission>): Promise<AppError> {
  for (;;) {
    try {
      (await admit()).settle();
      await setImmediate();
    } catch (error) {
      if (error instanceof AppError && error.code === "rate_limited") return error;
      throw error;
    }
  }
}
