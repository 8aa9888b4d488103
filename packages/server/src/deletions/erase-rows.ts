/**
 * Erases the rows that a deletion selects. Everything that is found by another row goes before it, so that an attempt that was cut
 * off can be repeated.
 */
import type { ErasableTable } from "../store/erasure.ts";
import { bind, callerOrganization, sql, type Statement } from "../store/statement.ts";
import type { Store, TenantReader } from "../store/store.ts";
import type { Scope } from "../tenant.ts";
import { all, type SelectedRows, seriesTables } from "./selection.ts";

export interface ErasingParts {
  readonly store: Pick<Store, "eraser" | "open">;
  readonly scope: Scope;
  readonly signal: AbortSignal;
}

/** Statements of a deletion may take longer than those of a caller, who waits. */
export const readTimeoutMs = 600_000;
/** IDs in one statement, which keeps them within its limits. */
const idsPerStatement = 10_000;

/** @throws AppError as queries do; erasing again then erases the rest */
export async function eraseRows(selected: SelectedRows, parts: ErasingParts): Promise<void> {
  const { scope, signal, store } = parts;
  store.eraser.forgetDescriptions(scope.organizationId);
  await store.eraser.requireVisible(scope, signal);
  const erase = (table: ErasableTable, condition: Statement): Promise<void> =>
    store.eraser.erase(scope, { table, condition: all([selected.base(table), condition]), signal });
  if (selected.isOfPerson) await erasePerson(selected, parts, erase);
  else if (selected.project === undefined) for (const table of seriesTables) await erase(table, sql`1`);
  if (selected.isOfPerson || selected.project !== undefined) await eraseSeries(selected, parts, erase);
  if (selected.isOfPerson) return;
  for (const table of ["logs", "span_details", "trace_index", "spans"] as const) await erase(table, sql`1`);
  if (selected.project === undefined && !selected.hasTimes)
    for (const table of ["series", "resources", "scopes"] as const) await erase(table, sql`1`);
}

async function erasePerson(
  selected: SelectedRows,
  { scope, signal, store }: ErasingParts,
  erase: (table: ErasableTable, condition: Statement) => Promise<void>,
): Promise<void> {
  const reader = store.open(scope);
  const logs = pages<{ id: string }>(reader, signal, (after) => {
    const isNext = after === undefined ? sql`1` : sql`record_id > ${bind.uint64(after.id)}`;
    return sql`SELECT DISTINCT record_id AS id FROM logs WHERE organization = ${callerOrganization} AND ${selected.logs()} AND ${isNext}
      ORDER BY id LIMIT ${bind.uint32(idsPerStatement)}`;
  });
  for await (const rows of logs) await erase("logs", sql`record_id IN ${bind.uint64s(rows.map(({ id }) => id))}`);
  await erase("exemplars", selected.exemplars());
  const traces = pages<{ id: string }>(reader, signal, (after) => {
    const isNext = after === undefined ? sql`trace_id != ''` : sql`trace_id > ${bind.text(after.id)}`;
    return sql`SELECT DISTINCT trace_id AS id FROM spans WHERE organization = ${callerOrganization} AND ${selected.spans()} AND ${isNext}
      ORDER BY id LIMIT ${bind.uint32(idsPerStatement)}`;
  });
  for await (const rows of traces) {
    const isOne = sql`trace_id IN ${bind.texts(rows.map(({ id }) => id))}`;
    for (const table of ["logs", "exemplars", "span_details", "trace_index", "spans"] as const)
      await erase(table, isOne);
  }
}

interface SeriesRow {
  readonly id: string;
  readonly metric: string;
}

/** Erases points by their series, and series whose points are all gone. */
async function eraseSeries(
  selected: SelectedRows,
  { scope, signal, store }: ErasingParts,
  erase: (table: ErasableTable, condition: Statement) => Promise<void>,
): Promise<void> {
  for await (const rows of seriesPages(store.open(scope), selected.series(), signal)) {
    const isOne = isOfSeries(rows);
    for (const table of seriesTables) await erase(table, isOne);
    if (!selected.hasTimes) await erase("series", isOne);
  }
}

export function isOfSeries(rows: readonly SeriesRow[]): Statement {
  return sql`metric IN ${bind.texts([...new Set(rows.map(({ metric }) => metric))])}
    AND series_id IN ${bind.uint64s(rows.map(({ id }) => id))}`;
}

/** Names of metrics are long, hence fewer. */
const seriesPerStatement = 1000;

export function seriesPages(
  reader: TenantReader,
  condition: Statement,
  signal: AbortSignal,
): AsyncGenerator<readonly SeriesRow[]> {
  return pages<SeriesRow>(reader, signal, (after) => {
    const isNext = after === undefined ? sql`1` : sql`series_id > ${bind.uint64(after.id)}`;
    return sql`SELECT DISTINCT series_id AS id, metric FROM series WHERE organization = ${callerOrganization} AND ${condition}
      AND ${isNext} ORDER BY id LIMIT ${bind.uint32(seriesPerStatement)}`;
  });
}

/** The rows of statements that each begin after the last row of the one before. */
async function* pages<Row extends object>(
  reader: TenantReader,
  signal: AbortSignal,
  next: (after: Row | undefined) => Statement,
): AsyncGenerator<readonly Row[]> {
  let last: Row | undefined;
  for (;;) {
    const rows = await reader.query<Row>(next(last), { signal, timeoutMs: readTimeoutMs, duplicates: "kept" });
    if (rows.length === 0) return;
    yield rows;
    last = rows.at(-1);
  }
}

const hasNoRows = {
  series: sql`series_id NOT IN (SELECT series_id FROM points WHERE organization = ${callerOrganization})
    AND series_id NOT IN (SELECT series_id FROM distribution_points WHERE organization = ${callerOrganization})`,
  resources: sql`resource_id NOT IN (SELECT resource_id FROM spans WHERE organization = ${callerOrganization})
    AND resource_id NOT IN (SELECT resource_id FROM logs WHERE organization = ${callerOrganization})
    AND resource_id NOT IN (SELECT resource_id FROM series WHERE organization = ${callerOrganization})`,
  scopes: sql`scope_id NOT IN (SELECT scope_id FROM spans WHERE organization = ${callerOrganization})
    AND scope_id NOT IN (SELECT scope_id FROM logs WHERE organization = ${callerOrganization})
    AND scope_id NOT IN (SELECT scope_id FROM series WHERE organization = ${callerOrganization})`,
} as const;
const identities = { series: sql`series_id`, resources: sql`resource_id`, scopes: sql`scope_id` } as const;
const described = { series: sql`series`, resources: sql`resources`, scopes: sql`scopes` } as const;

/**
 * Erases series, resources and scopes that no row refers to any more. Writers have forgotten them, so those that they write again
 * are newer and stay.
 */
export async function eraseUnusedDescriptions({ scope, signal, store }: ErasingParts): Promise<void> {
  store.eraser.forgetDescriptions(scope.organizationId);
  const seen = await store.eraser.now(signal);
  for (const table of ["series", "resources", "scopes"] as const) {
    const id = identities[table];
    const isOld = sql`seen <= fromUnixTimestamp(${bind.int64(seen)})`;
    const unused = pages<{ id: string }>(store.open(scope), signal, (after) => {
      const isNext = after === undefined ? sql`1` : sql`${id} > ${bind.uint64(after.id)}`;
      return sql`SELECT DISTINCT ${id} AS id FROM ${described[table]} WHERE organization = ${callerOrganization}
        AND ${isOld} AND ${isNext} AND ${hasNoRows[table]} ORDER BY id LIMIT ${bind.uint32(idsPerStatement)}`;
    });
    for await (const rows of unused) {
      const isUnused = sql`${id} IN ${bind.uint64s(rows.map((row) => row.id))} AND ${isOld}`;
      await store.eraser.erase(scope, { table, condition: isUnused, signal });
    }
  }
}
