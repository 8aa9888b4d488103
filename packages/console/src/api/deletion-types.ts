/**
 * The objects of the wire. Generated from the contract by `npm run generate`; do not edit.
 */

/** A deletion and its receipt. It has no content of what was deleted. */
export interface Deletion {
  /** Always `deletion`. */
  object: "deletion";
  /** Identifier of the deletion; null for a dry run. */
  id: string | null;
  /** `telemetry`: selected telemetry; `project` and `organization`: a project or an organization with its telemetry; `retention`: telemetry that a shorter retention no longer covers. */
  kind: "telemetry" | "project" | "organization" | "retention";
  /** Identifier of the organization. */
  organization_id: string;
  /** Identifier of the deleted project; null for other kinds. */
  project_id: string | null;
  /** The project; null if all. */
  project_name: string | null;
  /** SHA-256 of the conversation's ID, in hex; null if none was given. The ID itself is not stored. */
  conversation_sha256: string | null;
  /** SHA-256 of the end user's ID, in hex; null if none was given. The ID itself is not stored. */
  end_user_sha256: string | null;
  /** Start of the time range, inclusive, in nanoseconds since 1970; null if it has none. */
  start: string | null;
  /** End of the time range, exclusive, in nanoseconds since 1970; null if it has none. */
  end: string | null;
  /** The project's new retention in days; null for other kinds. */
  retention_days: number | null;
  /** Identifier of the key that asked for it. */
  requested_by: string;
  /** `pending`, `running`, `done`, or `failed`: the last attempt failed, `error` says why, and the server tries again at `retry_at`. `dry_run`: nothing is deleted. */
  status: "dry_run" | "pending" | "running" | "failed" | "done";
  /** Number of deleted rows by table of the telemetry store. */
  rows: {
    /** Number of spans. */
    spans?: number;
    /** Number of spans with events, links or large attributes. */
    span_details?: number;
    /** Number of log records. */
    logs?: number;
    /** Number of series of metrics. */
    series?: number;
    /** Number of points of gauges and sums. */
    points?: number;
    /** Number of points of histograms and summaries. */
    distribution_points?: number;
    /** Number of exemplars. */
    exemplars?: number;
  };
  /** Why the last attempt failed; null if it did not. */
  error: string | null;
  /** When it was requested, UNIX seconds. */
  created_at: number;
  /** When it began, UNIX seconds; null if that has not happened. */
  started_at: number | null;
  /** Since when queries no longer return the rows, UNIX seconds; null if that has not happened. */
  hidden_at: number | null;
  /** Since when no file of the store has the rows, UNIX seconds; null if that has not happened. */
  erased_at: number | null;
  /** When the next attempt begins, UNIX seconds; null if that has not happened. */
  retry_at: number | null;
}
