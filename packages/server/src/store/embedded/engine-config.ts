/**
 * Configures how the embedded engine stores its files, for one machine with constant inserts and few cores for merging.
 * The settings apply to all tables. The engine reads them from a file only, so existing data folders get them too. A remote
 * server keeps its operator's settings. https://clickhouse.com/docs/operations/settings/merge-tree-settings
 */

/** Ratios are of the CPU time of inserts and merges together; docs/adr/0022-telemetry-store.md has the measurements. */
const mergeTreeSettings = {
  // Merging twice as many parts at once halves how often a row is merged.
  merge_selector_base: 10,
  // A wide part has separate files for each column, some hundred in total: too many for parts that are soon merged again.
  min_bytes_for_wide_part: 134_217_728,
  // Statistics of columns, which none of our statements uses.
  auto_statistics_types: "",
  // How often files that were replaced are removed, in seconds; the default is up to five minutes.
  cleanup_delay_period: 10,
  cleanup_delay_period_random_add: 3,
  max_cleanup_delay_period: 10,
} as const;

/** https://clickhouse.com/docs/operations/server-configuration-parameters/settings */
const serverSettings = {
  // How often the engine compares its memory with the kernel's count; the default is 20 times a second, also when idle.
  memory_worker_period_ms: 250,
  // The engine's own count drifts up while statements overlap, until it refuses every statement for memory that is free.
  memory_worker_correct_memory_tracker: 1,
  // A container's memory includes that of the server.
  memory_worker_use_cgroup: 0,
} as const;

/** The content of the engine's configuration file. */
export function engineConfiguration(): string {
  const elements = (settings: Readonly<Record<string, string | number>>): string =>
    Object.entries(settings)
      .map(([name, value]) => `<${name}>${value}</${name}>`)
      .join("");
  return `<clickhouse>${elements(serverSettings)}<merge_tree>${elements(mergeTreeSettings)}</merge_tree></clickhouse>\n`;
}
