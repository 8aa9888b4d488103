/** What a server counts of its clients, whichever protocol they speak. */
import type { Logger } from "../logger.ts";
import { ConnectionLimits, type ConnectionSettings } from "./connection-limits.ts";
import { FailedKeys, type FailedKeysExchange } from "./failed-keys.ts";
import { OpenRequests } from "./open-requests.ts";

export interface ClientLimits {
  readonly failedKeys: FailedKeys;
  readonly connectionLimits: ConnectionLimits;
  readonly openRequests: OpenRequests;
}

interface ClientSettings extends ConnectionSettings {
  readonly max_failed_keys_per_minute: number;
  readonly max_open_requests_per_organization: number;
}

/** @param others absent: there is only this process */
export function createClientLimits(
  settings: ClientSettings,
  logger: Logger,
  others: FailedKeysExchange | undefined,
): ClientLimits {
  return {
    failedKeys: new FailedKeys(settings.max_failed_keys_per_minute, undefined, others),
    connectionLimits: new ConnectionLimits(settings, logger),
    openRequests: new OpenRequests(settings.max_open_requests_per_organization),
  };
}
