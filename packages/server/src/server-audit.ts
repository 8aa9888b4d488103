/** Opens the audit log as the configuration says: what is noted of requests, its maintenance and its export. */
import { isDeepStrictEqual } from "node:util";
import type { Config } from "./config/config.ts";
import type { Logger } from "./logger.ts";
import type { ProcessSharing } from "./server-parts.ts";
import type { Metrics } from "./status/metrics.ts";
import type { Store } from "./store/store.ts";
import { type AuditExportParts, startAuditExport } from "./telemetry/audit/export-audit.ts";
import { startAuditJob } from "./tenancy/audit/audit-job.ts";
import { AuditTrail } from "./tenancy/audit/audit-trail.ts";
import { systemEntry } from "./tenancy/audit/chain.ts";
import type { ControlDatabase } from "./tenancy/control-database.ts";

interface AuditParts extends Pick<AuditExportParts, "settingsOf" | "identity"> {
  readonly config: Config;
  readonly control: ControlDatabase;
  readonly store: Store;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly sharing: ProcessSharing | undefined;
}

export interface ServerAudit {
  readonly trail: AuditTrail;
  /** Records which sections of the configuration change, without their values. */
  recordReload(next: Config): void;
  /** Call it before the store and the control database are closed. */
  close(): Promise<void>;
}

export function openServerAudit(parts: AuditParts): ServerAudit {
  const { control, logger, metrics, sharing } = parts;
  const { export: exported, retention_days: retentionDays } = parts.config.audit;
  const trail = new AuditTrail({ control, logger, onDrop: metrics.countLostAuditEntries });
  const jobs = [startAuditJob({ control, logger, retentionDays })];
  if (exported !== undefined && parts.config.telemetry.enabled)
    jobs.push(startAuditExport({ ...parts, settings: exported, currency: parts.config.telemetry.currency }));
  let current = parts.config;
  return {
    trail,
    recordReload(next) {
      const before = new Map<string, unknown>(Object.entries(current));
      const changed = Object.entries(next).filter(([name, value]) => !isDeepStrictEqual(value, before.get(name)));
      current = next;
      // One process records it for all.
      if ((sharing?.number ?? 1) !== 1) return;
      trail.record(systemEntry("reloadConfiguration", { sections: changed.map(([name]) => name) }));
    },
    async close() {
      await Promise.all(jobs.map((job) => job.close()));
      await trail.close();
    },
  };
}
