/** Counts the rows that a deletion selects. */
import type { CountedTable, DeletedRows } from "../api/deletions.ts";
import { callerOrganization, sql, type Statement } from "../store/statement.ts";
import type { TenantReader } from "../store/store.ts";
import type { SelectedRows } from "./selection.ts";

const countedTables = {
  spans: sql`spans`,
  span_details: sql`span_details`,
  logs: sql`logs`,
  series: sql`series`,
  points: sql`points`,
  distribution_points: sql`distribution_points`,
  exemplars: sql`exemplars`,
} as const satisfies Record<CountedTable, Statement>;
const names = Object.keys(countedTables) as CountedTable[];

/** @throws AppError as queries do */
export async function countRows(
  reader: TenantReader,
  selected: SelectedRows,
  options: { readonly signal: AbortSignal; readonly timeoutMs?: number | undefined },
): Promise<DeletedRows> {
  const counted: DeletedRows = {};
  for (const table of names) {
    // Series stay while they have points outside the range.
    if (table === "series" && selected.hasTimes) continue;
    const [row] = await reader.query<{ rows: string }>(
      sql`SELECT count() AS rows FROM ${countedTables[table]} WHERE organization = ${callerOrganization} AND ${selected.of(table)}`,
      options,
    );
    counted[table] = Number(row?.rows ?? 0);
  }
  return counted;
}

/** The larger number of each table: an attempt that resumes finds only what the one before it left. */
export function mostRows(before: DeletedRows, now: DeletedRows): DeletedRows {
  return Object.fromEntries(names.flatMap((table) => combined(table, before, now, Math.max)));
}

export function sumOfRows(before: DeletedRows, more: DeletedRows): DeletedRows {
  return Object.fromEntries(names.flatMap((table) => combined(table, before, more, (left, right) => left + right)));
}

function combined(
  table: CountedTable,
  left: DeletedRows,
  right: DeletedRows,
  combine: (left: number, right: number) => number,
): [CountedTable, number][] {
  if (left[table] === undefined && right[table] === undefined) return [];
  return [[table, combine(left[table] ?? 0, right[table] ?? 0)]];
}
