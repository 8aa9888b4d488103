/** An entry of the audit log as an OpenTelemetry log record. docs/administer/audit.md lists its attributes. */
import { createHash } from "node:crypto";
import type { AuditRow } from "../../tenancy/audit/entry.ts";
import { clientAddress, errorType } from "../calls/attribute-names.ts";
import type { CallLog } from "../calls/call-record-types.ts";

const levels = { done: "info", refused: "warning", failed: "error" } as const satisfies Record<
  string,
  CallLog["level"]
>;

export function toLogRecord(row: AuditRow): CallLog {
  const prefix = "sounding.audit";
  return {
    traceId: "",
    spanId: "",
    unixNano: BigInt(row.time_ms) * 1_000_000n,
    // The same if the entry is exported again, so that queries return it once.
    recordId: createHash("sha256").update(row.id).digest().subarray(0, 8),
    level: levels[row.outcome as keyof typeof levels] ?? "error",
    eventName: "sounding.audit",
    body: sentenceOf(row),
    attributes: {
      "log.record.uid": row.id,
      [`${prefix}.sequence`]: row.sequence,
      [`${prefix}.hash`]: row.hash,
      [`${prefix}.action`]: row.action,
      [`${prefix}.outcome`]: row.outcome,
      [`${prefix}.count`]: row.count,
      [`${prefix}.actor.kind`]: row.actor_kind,
      [`${prefix}.actor.id`]: row.actor_id ?? undefined,
      [`${prefix}.actor.name`]: row.actor_name ?? undefined,
      [`${prefix}.organization.id`]: row.organization_id ?? undefined,
      [`${prefix}.target.kind`]: row.object_kind ?? undefined,
      [`${prefix}.target.id`]: row.object_id ?? undefined,
      [`${prefix}.target.name`]: row.object_name ?? undefined,
      [`${prefix}.before`]: row.before_state ?? undefined,
      [`${prefix}.after`]: row.after_state ?? undefined,
      [`${prefix}.details`]: row.details === "{}" ? undefined : row.details,
      [clientAddress]: row.address ?? undefined,
      "user_agent.original": row.user_agent ?? undefined,
      [errorType]: row.code ?? undefined,
    },
  };
}

function sentenceOf(row: AuditRow): string {
  const actor = [row.actor_kind, row.actor_name ?? row.actor_id].filter(Boolean).join(" ");
  const target = [row.object_kind, row.object_name ?? row.object_id].filter(Boolean).join(" ");
  const outcome = row.code === null ? row.outcome : `${row.outcome} (${row.code})`;
  const times = row.count === 1 ? "" : `, ${row.count} times`;
  return `${actor}: ${row.action}${target === "" ? "" : ` ${target}`}: ${outcome}${times}`;
}
