/** An entry of the audit log: what it says, how long its texts may be, and its hash, which includes that of the entry before. */
import { createHash } from "node:crypto";
import type { Selectable } from "kysely";
import { inputLimit } from "../../input-limits.ts";
import { redactText } from "../../logger.ts";
import { newIdentifier } from "../row-values.ts";
import type { ControlTables } from "../tables.ts";

/** Who did something. `local`: a person with access to the control database; `system`: the server itself. */
export type ActorKind = "key" | "person" | "token" | "local" | "system" | "anonymous";

export interface Actor {
  readonly kind: ActorKind;
  readonly id: string | null;
  readonly name: string | null;
  readonly organizationId: string | null;
}

export interface ActObject {
  readonly kind: string | null;
  readonly id: string | null;
  readonly name: string | null;
}

export interface AuditEntry {
  readonly actor: Actor;
  /** The organization that it concerns, whose administrators see the entry. null: only operators do. */
  readonly organizationId: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  /** The name of the operation. */
  readonly action: string;
  readonly object: ActObject;
  readonly outcome: "done" | "refused" | "failed";
  /** The code of the error. */
  readonly code: string | null;
  /** How many requests it stands for. */
  readonly count: number;
  /** The object as the API shows it. */
  readonly before: object | null;
  readonly after: object | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export const systemActor: Actor = { kind: "system", id: null, name: null, organizationId: null };
export const noObject: ActObject = { kind: null, id: null, name: null };

export type AuditRow = Selectable<ControlTables["audit_events"]>;
/** A row without its place in the chain. */
export type UnchainedRow = Omit<AuditRow, "sequence" | "previous_hash" | "hash">;

const longestText = inputLimit({
  area: "Administration",
  bounds: "A text in an entry of the audit log, such as a user agent or a name",
  value: 256,
  unit: "characters",
  error: { instead: "the text is cut" },
});
const mostStateBytes = inputLimit({
  area: "Administration",
  bounds: "The state of an object before or after a change in the audit log",
  value: 16_384,
  unit: "bytes",
  error: { instead: "its SHA-256 is recorded" },
});

export function toRow(entry: AuditEntry, nowMs = Date.now()): UnchainedRow {
  const { actor, object } = entry;
  return {
    id: newIdentifier("aud"),
    time_ms: nowMs,
    actor_kind: actor.kind,
    actor_id: bounded(actor.id),
    actor_name: bounded(actor.name),
    actor_organization_id: actor.organizationId,
    organization_id: entry.organizationId,
    address: bounded(entry.address),
    user_agent: bounded(entry.userAgent),
    action: entry.action,
    object_kind: bounded(object.kind),
    object_id: bounded(object.id),
    object_name: bounded(object.name),
    outcome: entry.outcome,
    code: entry.code,
    count: entry.count,
    before_state: stateText(entry.before),
    after_state: stateText(entry.after),
    details: stateText(entry.details) ?? "{}",
  };
}

/** The text without secrets and without what one of the databases cannot store. */
function bounded(text: string | null): string | null {
  if (text === null) return null;
  // Both the cut and the redaction may split a pair of surrogates.
  const clean = redactText(text.slice(0, 4 * longestText)).replaceAll(/\p{Cc}/gu, " ");
  return clean.slice(0, longestText).toWellFormed();
}

/** JSON, which has no control characters and no lone surrogates. */
function stateText(state: object | null): string | null {
  if (state === null) return null;
  const text = redactText(JSON.stringify(state));
  const bytes = Buffer.byteLength(text);
  if (bytes <= mostStateBytes) return text;
  return JSON.stringify({ sha256: createHash("sha256").update(text).digest("hex"), bytes });
}

/** The hash before the first entry. */
export const firstHash = "0".repeat(64);

/** SHA-256 in hex of the hash of the entry before, and all members of this one in a fixed order. */
export function hashOf(row: UnchainedRow & Pick<AuditRow, "sequence" | "previous_hash">): string {
  const members = [
    "sounding-audit-1",
    row.previous_hash,
    row.sequence,
    row.id,
    row.time_ms,
    row.actor_kind,
    row.actor_id,
    row.actor_name,
    row.actor_organization_id,
    row.organization_id,
    row.address,
    row.user_agent,
    row.action,
    row.object_kind,
    row.object_id,
    row.object_name,
    row.outcome,
    row.code,
    row.count,
    row.before_state,
    row.after_state,
    row.details,
  ];
  return createHash("sha256").update(JSON.stringify(members)).digest("hex");
}
