/**
 * The tables of the control database for Kysely. Columns have the names of the admin API. Times are UNIX seconds, booleans
 * are 0 or 1. `limits`, `settings`, `permissions`, `allowed_models`, `definition`, `state`, `selection` and `rows` are JSON in text columns, which both
 * databases store alike; no query reads inside them.
 */
import type { AccountTables } from "./account-tables.ts";
import type { AuditEventTable, AuditExportTable, AuditHeadTable } from "./audit/audit-rows.ts";
import type { BudgetTables } from "./budget-tables.ts";
import type { PasskeyTables } from "./passkey-tables.ts";
import type { ScimTables } from "./scim-tables.ts";
import type { SignInTables } from "./sign-in-tables.ts";

interface OrganizationTable {
  id: string;
  /** Unique among the organizations that are not archived. */
  name: string;
  limits: string;
  /** null: all. */
  allowed_models: string | null;
  created_at: number;
  archived_at: number | null;
}

interface ProjectTable {
  id: string;
  organization_id: string;
  /** Unique among the organization's projects that are not archived. */
  name: string;
  settings: string;
  created_at: number;
  archived_at: number | null;
}

interface KeyTable {
  id: string;
  organization_id: string;
  project_id: string | null;
  name: string;
  secret_hash: string;
  redacted_secret: string;
  permissions: string;
  limits: string;
  operator: number;
  /** Whether the key's secret comes from the configuration; at most one such key is not revoked. */
  configured: number;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  /** The first of the keys that this one replaces by rotation: limits and budgets count its usage. null: its own. */
  limits_key_id: string | null;
  /** Whose personal key it is; null: a service's. */
  person_id: string | null;
  /** A built-in role, or the identifier of one of the organization's; then `permissions` is empty. null: `permissions` apply. */
  role: string | null;
  /** null: all that the organization may call. */
  allowed_models: string | null;
  /** 0: never; 1 or null: if its project does. */
  record_content: number | null;
}

interface PersonTable {
  id: string;
  /** In lower case. */
  email: string;
  name: string;
  operator: number;
  created_at: number;
  disabled_at: number | null;
  last_used_at: number | null;
}

/** A role that an organization defined. */
interface RoleTable {
  id: string;
  organization_id: string;
  /** Unique in the organization, and not that of a built-in role. */
  name: string;
  permissions: string;
  /** null: all that the organization may call. */
  allowed_models: string | null;
  created_at: number;
  updated_at: number;
}

/** A role of a person, in an organization or in one of its projects. */
interface MembershipTable {
  id: string;
  person_id: string;
  organization_id: string;
  /** null: in all projects. */
  project_id: string | null;
  /** A built-in role, or the identifier of one of the organization's. */
  role: string;
  /** Who keeps it: `admin` (the admin API), or a provider that sets and removes its own only. */
  source: string;
  created_at: number;
}

interface TokenUsageTable {
  /** `2026-11` */
  month: string;
  organization_id: string;
  key_id: string;
  tokens: number;
}

/** A session of the web console. Expired rows are deleted when the next one is created. */
interface SessionTable {
  id: string;
  secret_hash: string;
  key_id: string;
  /** The key that requests to the admin API use instead. */
  operator_key_id: string | null;
  created_at: number;
  expires_at: number;
  last_used_at: number;
}

/** A code that opens one session; redeeming it deletes it. */
interface SignInCodeTable {
  code_hash: string;
  key_id: string;
  operator_key_id: string | null;
  expires_at: number;
}

/** A group of alert rules that was created through the admin API. */
interface AlertGroupTable {
  id: string;
  organization_id: string;
  /** Unique in the organization. */
  name: string;
  /** JSON: the other members of the group. */
  definition: string;
  created_at: number;
  updated_at: number;
}

/** The state of an alert rule for an organization, so that alerts survive a restart and other servers can show them. */
interface AlertStateTable {
  organization_id: string;
  /** Identifies the group: by its identifier, or by the place in the configuration. */
  rule_group: string;
  /** Identifies the rule in its group. */
  rule: string;
  /** JSON: the health of the rule and its alerts. */
  state: string;
  updated_at: number;
}

/** A deletion of data, and its receipt. */
interface DeletionTable {
  id: string;
  /** One of `deletionKinds`. */
  kind: string;
  organization_id: string;
  /** JSON: what is deleted. No content; IDs of conversations and end users as hashes. */
  selection: string;
  /** The key that asked for it. */
  requested_by: string;
  status: "pending" | "running" | "failed" | "done";
  /** JSON: number of deleted rows by table. */
  rows: string;
  error: string | null;
  /** Attempts that failed since the last progress. */
  attempts: number;
  created_at: number;
  started_at: number | null;
  /** Queries no longer return the rows. */
  hidden_at: number | null;
  /** Rows that were on the way are deleted as well; by the clock of the telemetry store. */
  swept_at: number | null;
  erased_at: number | null;
  retry_at: number | null;
}

/** A response of the Responses API that later ones can continue. Expired rows are deleted when the next one is stored. */
interface ResponseTable {
  id: string;
  organization_id: string;
  project_name: string;
  /** The engine that has it too, because the call was passed through. */
  engine: string | null;
  /** The response that it continues. */
  previous_id: string | null;
  /** JSON: the items that were new in the request. */
  input: string;
  /** JSON: the response object. */
  response: string;
  /** Of input and response. */
  bytes: number;
  created_at: number;
  expires_at: number;
}

/** An item of a stored response, to which requests may refer. */
interface ResponseItemTable {
  organization_id: string;
  project_name: string;
  id: string;
  response_id: string;
}

/** A stored response that is, or was, generated in the background. */
interface BackgroundResponseTable {
  organization_id: string;
  project_name: string;
  id: string;
  /** The process that generates it. */
  process: string;
  status: "queued" | "in_progress" | "ended";
  /** Whether its events are kept. */
  is_streamed: number;
  /** Another process was asked to cancel it. */
  is_cancelled: number;
  /** Its ID at the engine, if that differs. */
  upstream_id: string | null;
  /** If the process has not renewed it by then, the response is lost. */
  lease_expires_at: number;
}

/** Consecutive events of a response in the background. */
interface ResponseEventTable {
  organization_id: string;
  project_name: string;
  response_id: string;
  first_sequence: number;
  last_sequence: number;
  bytes: number;
  created_at: number;
  /** A line for each: its type, a space, its JSON. */
  events: string;
}

/** One row, written to check that the database accepts writes. */
interface WriteProbeTable {
  id: number;
  written_at: number;
}

export interface ControlTables extends AccountTables, BudgetTables, PasskeyTables, ScimTables, SignInTables {
  organizations: OrganizationTable;
  projects: ProjectTable;
  keys: KeyTable;
  people: PersonTable;
  roles: RoleTable;
  memberships: MembershipTable;
  token_usage: TokenUsageTable;
  sessions: SessionTable;
  sign_in_codes: SignInCodeTable;
  alert_groups: AlertGroupTable;
  alert_states: AlertStateTable;
  deletions: DeletionTable;
  responses: ResponseTable;
  response_items: ResponseItemTable;
  background_responses: BackgroundResponseTable;
  response_events: ResponseEventTable;
  audit_events: AuditEventTable;
  audit_head: AuditHeadTable;
  audit_export: AuditExportTable;
  write_probe: WriteProbeTable;
}
