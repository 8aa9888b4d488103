/**
 * Exports the audit log as log records into an organization's telemetry, on one server at a time. The position is saved after the
 * records are durable: after a crash, some are exported again with the same ID, and queries return them once.
 * docs/adr/0243-audit-log.md
 */
import { sleep } from "../../abort.ts";
import type { AuditSettings } from "../../config/audit.ts";
import type { Logger } from "../../logger.ts";
import type { Store } from "../../store/store.ts";
import type { AuditRow } from "../../tenancy/audit/entry.ts";
import { nextEvents, saveExported } from "../../tenancy/audit/export-position.ts";
import type { ControlDatabase } from "../../tenancy/control-database.ts";
import { listActiveOrganizations, openJobScope } from "../../tenancy/job-scope.ts";
import { startSingletonJob, type SingletonJob } from "../../tenancy/singleton-job.ts";
import type { ProjectSettings, Scope } from "../../tenant.ts";
import { SpanRowWriter, type ServerIdentity } from "../calls/span-row-writer.ts";
import { toLogRecord } from "./audit-log-record.ts";

export interface AuditExportParts {
  readonly settings: NonNullable<AuditSettings["export"]>;
  readonly control: ControlDatabase;
  readonly store: Pick<Store, "append" | "isKnown" | "whenReady">;
  readonly settingsOf: (scope: Scope) => ProjectSettings | Promise<ProjectSettings>;
  readonly identity: ServerIdentity;
  readonly currency: string;
  readonly logger: Logger;
}

const pageRows = 200;
const intervalMs = 1000;
/** Between two looks for an organization that does not exist. */
const absentIntervalMs = 10_000;
const dayMs = 86_400_000;

export function startAuditExport(parts: AuditExportParts): SingletonJob {
  const { control, logger } = parts;
  return startSingletonJob({ control, name: "audit-export", logger, run: (signal) => run(parts, signal) });
}

async function run(parts: AuditExportParts, signal: AbortSignal): Promise<void> {
  const { control, logger, settings, store } = parts;
  let isMissing = false;
  while (!signal.aborted) {
    await store.whenReady(signal);
    const scope = await findScope(control, settings);
    if (scope === undefined) {
      if (!isMissing)
        logger.error({ organization: settings.organization }, "the organization of audit.export does not exist");
      isMissing = true;
      await sleep(absentIntervalMs, signal);
      continue;
    }
    isMissing = false;
    const { events, missed } = await nextEvents(control, pageRows);
    if (missed > 0) logger.error({ entries: missed }, "entries of the audit log were pruned before they were exported");
    if (events.length === 0) await sleep(intervalMs, signal);
    // Each insert is divided into days.
    for (const ofDay of Map.groupBy(events, ({ time_ms }) => Math.floor(time_ms / dayMs)).values())
      await append(ofDay, scope, parts);
    const last = events.at(-1);
    if (last !== undefined) await saveExported(control, last.sequence);
  }
}

async function findScope(
  control: ControlDatabase,
  { organization, project }: AuditExportParts["settings"],
): Promise<Scope | undefined> {
  const found = (await listActiveOrganizations(control)).find(({ name }) => name === organization);
  return found && (await openJobScope(control, { job: "audit-export", organizationId: found.id, project }));
}

async function append(
  events: readonly AuditRow[],
  scope: Scope,
  { currency, identity, settingsOf, store }: AuditExportParts,
): Promise<void> {
  const { retention_days: retentionDays } = await settingsOf(scope);
  const rows = new SpanRowWriter({ organizationId: scope.organizationId, identity, currency, store });
  rows.add({ project: scope.projectName, retentionDays, spans: [], logs: events.map(toLogRecord) });
  await Promise.all(rows.finish().map((batch) => store.append(batch)));
}
