/**
 * The tables and columns of the control database that a copy contains. Sessions and sign-in codes are left out, so that a session that
 * ended does not return, and so are stored responses, so that a deleted one does not.
 * docs/adr/0042-deletion-backup-and-move.md
 */
import { Type, type TSchema } from "typebox";
import type { ControlTables } from "./tables.ts";

const text = Type.String();
const number = Type.Integer();
const optional = { text: Type.Union([text, Type.Null()]), number: Type.Union([number, Type.Null()]) };

export type CopiedTable = Exclude<
  keyof ControlTables,
  | "sessions"
  | "sign_in_codes"
  | "responses"
  | "response_items"
  | "background_responses"
  | "response_events"
  | "budget_leases"
  | "person_sessions"
  | "device_codes"
  | "logout_tokens"
  | "account_links"
  | "account_delays"
  | "passkey_challenges"
  | "write_probe"
>;

/** In an order in which every row follows those that it refers to. */
export const columns: { readonly [Table in CopiedTable]: Readonly<Record<keyof ControlTables[Table], TSchema>> } = {
  organizations: {
    id: text,
    name: text,
    limits: text,
    allowed_models: optional.text,
    created_at: number,
    archived_at: optional.number,
  },
  projects: {
    id: text,
    organization_id: text,
    name: text,
    settings: text,
    created_at: number,
    archived_at: optional.number,
  },
  roles: {
    id: text,
    organization_id: text,
    name: text,
    permissions: text,
    allowed_models: optional.text,
    created_at: number,
    updated_at: number,
  },
  people: {
    id: text,
    email: text,
    name: text,
    operator: number,
    created_at: number,
    disabled_at: optional.number,
    last_used_at: optional.number,
  },
  memberships: {
    id: text,
    person_id: text,
    organization_id: text,
    project_id: optional.text,
    role: text,
    source: text,
    created_at: number,
  },
  identities: { provider: text, subject: text, person_id: text, created_at: number, last_sign_in_at: number },
  accounts: {
    person_id: text,
    password_hash: text,
    totp_secret: optional.text,
    totp_step: optional.number,
    created_at: number,
    updated_at: number,
  },
  recovery_codes: { person_id: text, code_hash: text },
  passkeys: {
    id: text,
    person_id: text,
    name: text,
    credential_id: text,
    public_key: text,
    counter: number,
    transports: text,
    rp_id: text,
    backed_up: number,
    created_at: number,
    last_used_at: optional.number,
  },
  scim_users: {
    id: text,
    organization_id: text,
    person_id: text,
    user_name: text,
    user_name_key: text,
    external_id: optional.text,
    attributes: text,
    active: number,
    created_at: number,
    updated_at: number,
  },
  scim_groups: {
    id: text,
    organization_id: text,
    display_name: text,
    display_name_key: text,
    external_id: optional.text,
    created_at: number,
    updated_at: number,
  },
  scim_members: { group_id: text, user_id: text },
  keys: {
    id: text,
    organization_id: text,
    project_id: optional.text,
    name: text,
    secret_hash: text,
    redacted_secret: text,
    permissions: text,
    limits: text,
    operator: number,
    configured: number,
    created_at: number,
    expires_at: optional.number,
    revoked_at: optional.number,
    last_used_at: optional.number,
    limits_key_id: optional.text,
    person_id: optional.text,
    role: optional.text,
    allowed_models: optional.text,
    record_content: optional.number,
  },
  token_usage: { month: text, organization_id: text, key_id: text, tokens: number },
  budgets: {
    id: text,
    organization_id: text,
    name: text,
    definition: text,
    created_at: number,
    updated_at: number,
  },
  budget_usage: {
    budget_id: text,
    period: text,
    value: text,
    organization_id: text,
    used: number,
    notified: number,
    ends_at: optional.number,
  },
  alert_groups: {
    id: text,
    organization_id: text,
    name: text,
    definition: text,
    created_at: number,
    updated_at: number,
  },
  alert_states: { organization_id: text, rule_group: text, rule: text, state: text, updated_at: number },
  // Receipts, and deletions that are not finished: they go on after a restore.
  deletions: {
    id: text,
    kind: text,
    organization_id: text,
    selection: text,
    requested_by: text,
    status: text,
    rows: text,
    error: optional.text,
    attempts: number,
    created_at: number,
    started_at: optional.number,
    hidden_at: optional.number,
    swept_at: optional.number,
    erased_at: optional.number,
    retry_at: optional.number,
  },
  audit_events: {
    sequence: number,
    id: text,
    time_ms: number,
    actor_kind: text,
    actor_id: optional.text,
    actor_name: optional.text,
    actor_organization_id: optional.text,
    organization_id: optional.text,
    address: optional.text,
    user_agent: optional.text,
    action: text,
    object_kind: optional.text,
    object_id: optional.text,
    object_name: optional.text,
    outcome: text,
    code: optional.text,
    count: number,
    before_state: optional.text,
    after_state: optional.text,
    details: text,
    previous_hash: text,
    hash: text,
  },
  audit_head: { id: number, sequence: number, hash: text, pruned_sequence: number, pruned_hash: text },
  audit_export: { id: number, sequence: number },
};
export const copiedTables = Object.keys(columns) as CopiedTable[];

/** What identifies a row, for pages of rows and for rows that replace others. */
export const keys: { readonly [Table in CopiedTable]: readonly (keyof ControlTables[Table] & string)[] } = {
  organizations: ["id"],
  projects: ["id"],
  roles: ["id"],
  people: ["id"],
  memberships: ["id"],
  identities: ["provider", "subject"],
  accounts: ["person_id"],
  recovery_codes: ["person_id", "code_hash"],
  passkeys: ["id"],
  scim_users: ["id"],
  scim_groups: ["id"],
  scim_members: ["group_id", "user_id"],
  keys: ["id"],
  token_usage: ["month", "organization_id", "key_id"],
  budgets: ["id"],
  budget_usage: ["budget_id", "period", "value"],
  alert_groups: ["id"],
  alert_states: ["organization_id", "rule_group", "rule"],
  deletions: ["id"],
  audit_events: ["sequence"],
  audit_head: ["id"],
  audit_export: ["id"],
};
/** One chain of the whole installation, of which no part can be verified. */
export const auditTables: ReadonlySet<CopiedTable> = new Set(["audit_events", "audit_head", "audit_export"]);
