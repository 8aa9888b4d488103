/**
 * How the embedded engine keeps its files, for one machine that inserts all the time and has few cores for merging. These
 * are settings of all tables, which the engine takes from a file only, so older folders get them too; a server elsewhere
 * has its operator's. https://clickhouse.com/docs/operations/settings/merge-tree-settings
 */

/** Ratios are of the CPU time of inserts and merges together; docs/adr/0023-embedded-engine.md has the measurements. */
const mergeTreeSettings = {
  // Twice as many parts go into a merge, so that a row is merged half as often.
  merge_selector_base: 10,
  // A part of columns in files of their own has some hundred files: not for parts that are merged again soon.
  min_bytes_for_wide_part: 134_217_728,
  // Sketches of each column's values, which no statement of ours makes use of.
  auto_statistics_types: "",
} as const;

/** The content of the engine's configuration file. */
export function engineConfiguration(): string {
  const settings = Object.entries(mergeTreeSettings).map(([name, value]) => `<${name}>${value}</${name}>`);
  return `<clickhouse><merge_tree>${settings.join("")}</merge_tree></clickhouse>\n`;
}
