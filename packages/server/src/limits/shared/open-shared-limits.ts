/** Shares limits through the backend that the configuration names. */
import type { Logger } from "../../logger.ts";
import type { ExchangeObserver } from "./ledger-connection.ts";
import type { LimitLedger } from "./limit-ledger.ts";
import { SharedLimits } from "./shared-limits.ts";

interface SharedLimitSettings {
  readonly backend: "none" | "postgres" | "valkey";
  readonly valkey_url?: string | undefined;
  readonly when_unreachable: "allow" | "refuse";
  readonly timeout_ms: number;
}

interface SharedLimitParts {
  readonly databaseUrl: string | undefined;
  /** Counts for the processes of this server if there is no backend; absent: there is one process. */
  readonly ownLedger?: LimitLedger | undefined;
  readonly logger: Logger;
  readonly observer: ExchangeObserver & { watchReachable(read: () => boolean): void };
}

/** Another process of this server answers, unless the machine is stalled. */
const ownTimeoutMs = 5_000;

/** Does not wait for a connection. Undefined if limits are not shared. */
export async function openSharedLimits(
  settings: SharedLimitSettings,
  { databaseUrl, ownLedger, logger, observer }: SharedLimitParts,
): Promise<SharedLimits | undefined> {
  const backend = await openLedger(settings, databaseUrl);
  const ledger = backend ?? ownLedger;
  if (ledger === undefined) return undefined;
  const { when_unreachable: whenUnreachable } = settings;
  const timeoutMs = backend === undefined ? ownTimeoutMs : settings.timeout_ms;
  const shared = new SharedLimits({ ledger, whenUnreachable, timeoutMs, logger, observer });
  observer.watchReachable(() => shared.problem() === undefined);
  return shared;
}

/** Each client is loaded only where it is used. */
async function openLedger(
  { backend, valkey_url: valkeyUrl, timeout_ms: timeoutMs }: SharedLimitSettings,
  databaseUrl: string | undefined,
): Promise<LimitLedger | undefined> {
  if (backend === "postgres" && databaseUrl !== undefined) {
    const { PostgresLedger } = await import("./postgres-ledger.ts");
    return new PostgresLedger({ url: databaseUrl, timeoutMs });
  }
  if (backend === "valkey" && valkeyUrl !== undefined) {
    const { ValkeyLedger } = await import("./valkey-ledger.ts");
    return new ValkeyLedger({ url: valkeyUrl, timeoutMs });
  }
  return undefined;
}
