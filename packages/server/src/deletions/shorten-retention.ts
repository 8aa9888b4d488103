/** Applies a project's shorter retention to rows that are stored already. */
import { bind, sql } from "../store/statement.ts";
import { type ErasingParts, isOfSeries, seriesPages } from "./erase-rows.ts";
import { type SelectedRows, seriesTables } from "./selection.ts";

/**
 * Rows that are older have been erased; the others expire sooner. Resources and scopes may be of several projects: they are erased
 * when nothing refers to them.
 */
export async function shortenRetention(
  selected: SelectedRows,
  days: number,
  { scope, signal, store }: ErasingParts,
): Promise<void> {
  const isOfProject = sql`project = ${bind.text(selected.project ?? "")}`;
  for await (const rows of seriesPages(store.open(scope), isOfProject, signal))
    await store.eraser.shortenRetention(scope, { tables: seriesTables, days, condition: isOfSeries(rows), signal });
  await store.eraser.shortenRetention(scope, {
    tables: ["series", "logs", "span_details", "trace_index", "spans", "sums"],
    days,
    condition: isOfProject,
    signal,
  });
}
