/**
 * Maintains the audit log on one server: removes what is older than its retention, and writes the newest hash to the server's log,
 * which an attacker of the control database cannot change as well.
 */
import { sleep } from "../../abort.ts";
import type { Logger } from "../../logger.ts";
import type { ControlDatabase } from "../control-database.ts";
import { startSingletonJob } from "../singleton-job.ts";
import { headId } from "./chain.ts";
import { pruneEvents } from "./prune-events.ts";
import type { Anchor } from "./verify-chain.ts";

export interface AuditJobOptions {
  readonly control: ControlDatabase;
  readonly logger: Logger;
  /** Undefined: entries are kept forever. */
  readonly retentionDays: number | undefined;
  readonly intervalMs?: number | undefined;
}

const dayMs = 86_400_000;
const hourMs = 3_600_000;

export function startAuditJob({ control, intervalMs = hourMs, logger, retentionDays }: AuditJobOptions) {
  return startSingletonJob({
    control,
    name: "audit",
    logger,
    async run(signal) {
      let anchor: Anchor | undefined;
      while (!signal.aborted) {
        if (retentionDays !== undefined) await prune(Date.now() - retentionDays * dayMs, signal);
        anchor = await noteAnchor(control, logger, anchor);
        await sleep(intervalMs, signal);
      }
    },
  });

  async function prune(beforeMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await pruneEvents(control, beforeMs)) > 0);
  }
}

/** @returns the newest entry */
async function noteAnchor(
  control: ControlDatabase,
  logger: Logger,
  previous: Anchor | undefined,
): Promise<Anchor | undefined> {
  const { head, noted } = await control.snapshot(async (database) => ({
    head: await database.selectFrom("audit_head").selectAll().where("id", "=", headId).executeTakeFirst(),
    noted: await database
      .selectFrom("audit_events")
      .select("hash")
      .where("sequence", "=", previous?.sequence ?? 0)
      .executeTakeFirst(),
  }));
  const isPruned = head !== undefined && previous !== undefined && previous.sequence <= head.pruned_sequence;
  if (previous !== undefined && !isPruned && noted?.hash !== previous.hash) {
    logger.error(
      { sequence: previous.sequence, hash: previous.hash },
      "the audit log no longer has an entry that it had; run `sounding audit verify`",
    );
  }
  if (head === undefined || head.sequence === 0) return undefined;
  const { hash, sequence } = head;
  if (sequence !== previous?.sequence) logger.info({ sequence, hash }, "the newest entry of the audit log");
  return { sequence, hash };
}
