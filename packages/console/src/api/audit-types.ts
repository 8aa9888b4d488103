/**
 * The objects of the wire. Generated from the contract by `npm run generate`; do not edit.
 */

/** An entry of the audit log. */
export interface AuditEvent {
  /** Always `audit_event`. */
  object: "audit_event";
  /** Identifier of the entry. */
  id: string;
  /** When it was written, UNIX seconds. */
  created_at: number;
  /** Who acted. */
  actor: {
    /** `key`: an API key; `person`, `token`: a signed-in person, a token of an identity provider; `local`: a person with access to the control database; `system`: the server; `anonymous`: a caller that was not known. */
    kind: "key" | "person" | "token" | "local" | "system" | "anonymous";
    /** Identifier of the key or the person; null for another organization's. */
    id: string | null;
    /** Its name; `operator` for another organization's. */
    name: string | null;
  };
  /** The organization that the entry concerns; null: none, so only operators see it. */
  organization_id: string | null;
  /** The client's IP address, as far as trusted proxies report it. */
  address: string | null;
  /** The client's `User-Agent`, at most 256 characters. */
  user_agent: string | null;
  /** Name of the operation, such as `updateKey`. */
  action: string;
  /** What was acted upon. */
  target: {
    /** What it is, such as `key` or `conversation`. */
    kind: string | null;
    /** Its identifier. */
    id: string | null;
    /** Its name at that time. */
    name: string | null;
  };
  /** `done`; `refused`: the request was not allowed or not valid; `failed`: the server could not do it. */
  outcome: "done" | "refused" | "failed";
  /** The code of the error. */
  code: string | null;
  /** How many requests the entry stands for. */
  count: number;
  /** The object before the change, as the API shows it; null if it did not exist. Larger than 16 KiB: only `sha256` and `bytes`. */
  before: Record<string, unknown> | null;
  /** The object after the change, as the API shows it; null if it did not exist. Larger than 16 KiB: only `sha256` and `bytes`. */
  after: Record<string, unknown> | null;
  /** More, such as the ID of the request and of the session. */
  details: Record<string, unknown>;
  /** Place in the chain; only for operators. */
  sequence: number | null;
  /** SHA-256 of the entry and of the hash before it, in hex; only for operators. */
  hash: string | null;
}

/** Whether the audit log is complete and unchanged. */
export interface AuditVerification {
  /** Always `audit_verification`. */
  object: "audit_verification";
  /** Whether no problem was found. */
  valid: boolean;
  /** Number of entries that were checked. */
  entries: number;
  /** The oldest entry; null if the log is empty. */
  first_sequence: number | null;
  /** The newest entry; 0 if there never was one. */
  last_sequence: number;
  /** Its hash. Keep `last_sequence:last_hash` elsewhere, and send it as `anchor` next time. */
  last_hash: string;
  /** The first 100 problems. */
  problems: {
    /** `changed`: the entry is not what was written; `missing`: entries are missing before this one; `unlinked`: the entry does not follow the one before it; `start`: the oldest entry does not follow the last pruned one; `end`: the newest entry is not the last that was written; `anchor`: the entry does not have the expected hash. */
    kind: "changed" | "missing" | "unlinked" | "start" | "end" | "anchor";
    /** Place in the chain. */
    sequence: number;
    /** What is wrong. */
    message: string;
  }[];
}
