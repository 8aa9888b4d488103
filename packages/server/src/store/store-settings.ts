/** The settings of statements on the store, by what they do and where they run. */
import type { Settings } from "./connection.ts";
import { maximumDays } from "./row-writer.ts";
import { indexesBuiltByMerges } from "./table-statements.ts";

export const insertSettings: Settings = {
  async_insert: 0,
  max_partitions_per_insert_block: maximumDays,
  // If an insert fails between the rows and the trace index, the retry still fills the index.
  deduplicate_blocks_in_dependent_materialized_views: 1,
  // Duplicates within an insert are removed when parts merge, like all others, without the cost of merging each insert.
  optimize_on_insert: 0,
};
export const clusterInsertSettings: Settings = { distributed_foreground_insert: 1 };
export const readSettings: Settings = {
  do_not_merge_across_partitions_select_final: 1,
  // Read large columns only for the rows that a LIMIT returns; older servers do so for up to ten rows.
  query_plan_max_limit_for_lazy_materialization: 10_000,
};
/**
 * Range indexes exclude rows before duplicates are removed. Older servers lack the setting.
 * docs/adr/0025-promql-and-metrics.md
 */
export const rangeIndexSettings: Settings = { use_skip_indexes_if_final_exact_mode: 0 };
/** For remote servers. The embedded engine responds in one piece and stops a statement when its reader disconnects. */
export const remoteReadSettings: Settings = {
  // Report an error in the middle of a statement as the status, not as text after the first rows.
  wait_end_of_query: 1,
  // Without this, a server notices a disconnected reader only when a write fails.
  readonly: 2,
  cancel_http_readonly_queries_on_client_close: 1,
};
/**
 * A statement waits this long before each block of rows while one with a lower number runs. Longer waits would stop an
 * organization's small queries behind the first heavy query of another.
 */
const pauseMs = 20;
export const priorityReadSettings = (priority: number): Settings => ({
  priority,
  low_priority_query_wait_time_ms: pauseMs,
});
/** After every query. */
export const lowestPriority = 1_000_000;
export const clusterReadSettings: Settings = { distributed_product_mode: "global" };

/** Older servers lack this setting. */
export const embeddedInsertSettings = (): Settings => ({
  exclude_materialize_skip_indexes_on_insert: indexesBuiltByMerges().join(","),
});
