/** Lists the audit log. What other organizations' administrators may not see of an entry is left out. */
import type { AuditEvent } from "../../api/audit.ts";
import type { Page } from "../../api/admin.ts";
import type { ControlDatabase } from "../control-database.ts";
import { toPage, type PageRequest } from "../list-query.ts";
import type { AuditRow } from "./entry.ts";

export interface EventFilter extends PageRequest {
  /** The organization that the entries concern; undefined: all. */
  readonly organizationId: string | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  readonly outcome?: string | undefined;
  /** UNIX milliseconds; the end is exclusive. */
  readonly startMs?: number | undefined;
  readonly endMs?: number | undefined;
  /** Whether the reader may see everything. */
  readonly isOperator: boolean;
}

export async function listEvents(control: ControlDatabase, filter: EventFilter): Promise<Page<AuditEvent>> {
  const { action, actor, after, endMs, organizationId, outcome, startMs, target } = filter;
  const order = filter.order ?? "asc";
  return control.read(async (database) => {
    let query = database
      .selectFrom("audit_events")
      .selectAll()
      .orderBy("sequence", order)
      .limit(filter.limit + 1);
    if (organizationId !== undefined) query = query.where("organization_id", "=", organizationId);
    if (after !== undefined) {
      const last = database.selectFrom("audit_events").select("sequence").where("id", "=", after);
      query = query.where("sequence", order === "asc" ? ">" : "<", last);
    }
    if (actor !== undefined) {
      // Of other organizations' actors, the reader sees neither.
      query = query.where((where) =>
        where.and([
          where.or([where("actor_id", "=", actor), where("actor_name", "=", actor)]),
          ...(filter.isOperator ? [] : [where("actor_organization_id", "=", where.ref("organization_id"))]),
        ]),
      );
    }
    if (action !== undefined) query = query.where("action", "=", action);
    if (target !== undefined) {
      query = query.where((where) =>
        where.or([
          where("object_id", "=", target),
          where("object_name", "=", target),
          where("object_kind", "=", target),
        ]),
      );
    }
    if (outcome !== undefined) query = query.where("outcome", "=", outcome);
    if (startMs !== undefined) query = query.where("time_ms", ">=", startMs);
    if (endMs !== undefined) query = query.where("time_ms", "<", endMs);
    return toPage(await query.execute(), filter.limit, (row) => toEvent(row, filter.isOperator));
  });
}

function toEvent(row: AuditRow, isOperator: boolean): AuditEvent {
  const { actor_kind, actor_organization_id, organization_id } = row;
  const isForeign = !isOperator && actor_organization_id !== organization_id;
  return {
    object: "audit_event",
    id: row.id,
    created_at: Math.floor(row.time_ms / 1000),
    actor: {
      kind: actor_kind as AuditEvent["actor"]["kind"],
      id: isForeign ? null : row.actor_id,
      name: isForeign ? "operator" : row.actor_name,
    },
    organization_id,
    address: isForeign ? null : row.address,
    user_agent: isForeign ? null : row.user_agent,
    action: row.action,
    target: { kind: row.object_kind, id: row.object_id, name: row.object_name },
    outcome: row.outcome as AuditEvent["outcome"],
    code: row.code,
    count: row.count,
    before: parsed(row.before_state),
    after: parsed(row.after_state),
    details: isForeign ? {} : (parsed(row.details) ?? {}),
    sequence: isOperator ? row.sequence : null,
    hash: isOperator ? row.hash : null,
  };
}

function parsed(text: string | null): Record<string, unknown> | null {
  return text === null ? null : (JSON.parse(text) as Record<string, unknown>);
}
