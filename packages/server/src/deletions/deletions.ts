/** Assembles the deletion of data: the routes of the admin API and the job behind them. */
import type { Logger } from "../logger.ts";
import type { Route } from "../http/route.ts";
import type { Store } from "../store/store.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { startDeletions } from "./deletion-job.ts";
import { deletionRoutes } from "./routes.ts";

export interface DeletionsOptions {
  readonly control: ControlDatabase;
  readonly store: Store;
  readonly settings: { readonly enabled: boolean; readonly sweep_delay_ms: number };
  /** Whether this server may carry out deletions. */
  readonly runsJob: boolean;
  /** Whether another process, of this server or another one, may carry out deletions. */
  readonly isShared: boolean;
  readonly logger: Logger;
}

export interface Deletions {
  readonly routes: readonly Route[];
  close(): Promise<void>;
}

/** Without a telemetry store, deletions wait for a server that has it. */
export function createDeletions({ control, isShared, logger, runsJob, settings, store }: DeletionsOptions): Deletions {
  const { enabled, sweep_delay_ms: sweepDelayMs } = settings;
  const job = enabled ? startDeletions({ control, store, sweepDelayMs, logger, runsJob, isShared }) : undefined;
  return {
    routes: deletionRoutes(control, store),
    close: async () => job?.close(),
  };
}
