/** Reads usage from the ledger of the month, for processes that serve no requests. Only a server knows the other usage. */
import { limitUsage } from "../limits/limit-usage.ts";
import type { DefaultLimits } from "../limits/limiter.ts";
import { monthAt } from "../limits/monthly-usage.ts";
import type { ControlDatabase } from "./control-database.ts";
import type { ReadUsage } from "./routes.ts";
import { createUsageLedger } from "./usage.ts";

export function recordedUsage(
  control: ControlDatabase,
  defaults: DefaultLimits = { key: {}, organization: {} },
): ReadUsage {
  return async ({ kind, id, limits }) => {
    const nowMs = Date.now();
    const { name, endUnixMs } = monthAt(nowMs);
    const tokens = (await createUsageLedger(control).read(name))
      .filter((entry) => (kind === "key" ? entry.keyId : entry.organizationId) === id)
      .reduce((sum, entry) => sum + entry.tokens, 0);
    return limitUsage(limits, defaults[kind], { nowMs, stateOf: () => undefined, month: { tokens, endUnixMs } });
  };
}
