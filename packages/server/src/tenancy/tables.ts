/**
 * The tables of the control database as Kysely sees them. Columns bear the names that the admin API gives to the same
 * things; times are UNIX seconds; `limits`, `settings`, `permissions` and `allowed_models` are JSON texts, since both
 * databases keep texts alike and no query looks inside; truth values are 0 or 1.
 */

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
}

interface TokenUsageTable {
  /** `2026-11` */
  month: string;
  organization_id: string;
  key_id: string;
  tokens: number;
}

/** One row that is written to see whether the database can be. */
interface WriteProbeTable {
  id: number;
  written_at: number;
}

export interface ControlTables {
  organizations: OrganizationTable;
  projects: ProjectTable;
  keys: KeyTable;
  token_usage: TokenUsageTable;
  write_probe: WriteProbeTable;
}
