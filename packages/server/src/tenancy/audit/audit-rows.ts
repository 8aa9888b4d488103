/** The rows of the audit log in the control database. */

/** An entry of the audit log, chained by its hash to the one before. Entries are never changed; pruning removes the oldest. */
export interface AuditEventTable {
  /** 1, 2, 3 …, without gaps. */
  sequence: number;
  id: string;
  /** UNIX milliseconds. */
  time_ms: number;
  actor_kind: string;
  actor_id: string | null;
  actor_name: string | null;
  actor_organization_id: string | null;
  /** The organization that it concerns. */
  organization_id: string | null;
  address: string | null;
  user_agent: string | null;
  action: string;
  object_kind: string | null;
  object_id: string | null;
  object_name: string | null;
  outcome: string;
  code: string | null;
  count: number;
  /** JSON: the object as the API shows it. */
  before_state: string | null;
  after_state: string | null;
  /** JSON. */
  details: string;
  previous_hash: string;
  hash: string;
}

/** One row: the last entry of the audit log, and the last one that was pruned. */
export interface AuditHeadTable {
  id: number;
  sequence: number;
  hash: string;
  pruned_sequence: number;
  pruned_hash: string;
}

/** One row: how far the audit log is exported as log records. */
export interface AuditExportTable {
  id: number;
  sequence: number;
}
