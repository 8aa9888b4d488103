/**
 * Deletes the sample telemetry of a project. The instrumentation scope marks samples, so nothing else can be deleted: a key
 * that may only write telemetry must not erase what others sent.
 * docs/adr/0022-telemetry-store.md
 */
import { sampleScope } from "../../api/observability-samples.ts";
import { isTargetInfo } from "../../store/row-expressions.ts";
import { bind, callerOrganization, sql, type Statement } from "../../store/statement.ts";
import type { RemovableTable, Store, TenantReader } from "../../store/store.ts";
import type { Scope } from "../../tenant.ts";

export interface RemovedSamples {
  readonly spans: number;
  readonly logs: number;
  readonly points: number;
}

interface Context {
  readonly reader: TenantReader;
  readonly project: string;
  readonly signal: AbortSignal;
  remove(table: RemovableTable, condition: Statement): Promise<void>;
}

/** @throws AppError as queries do; deleting again then deletes the rest */
export async function removeSamples(
  store: Pick<Store, "open" | "remove">,
  scope: Scope,
  { project, signal }: { readonly project: string; readonly signal: AbortSignal },
): Promise<RemovedSamples> {
  const reader = store.open(scope);
  const context: Context = {
    reader,
    project,
    signal,
    remove: (table, condition) => store.remove(scope, { table, condition, signal }),
  };
  const scopes = await reader.query<{ scope_id: string }>(
    sql`SELECT DISTINCT scope_id FROM scopes WHERE organization = ${callerOrganization} AND name = ${bind.text(sampleScope)}`,
    { signal },
  );
  if (scopes.length === 0) return { spans: 0, logs: 0, points: 0 };
  const isSample = sql`project = ${bind.text(project)} AND scope_id IN ${bind.uint64s(scopes.map((each) => each.scope_id))}`;
  const spans = await removeSpans(context, isSample);
  return { spans, logs: await removeLogs(context, isSample), points: await removePoints(context, isSample) };
}

/** Traces per statement, which keeps their IDs within the limits of a statement. */
const tracesPerStatement = 10_000;

/** Spans, and what belongs to traces of which nothing is left. */
async function removeSpans(context: Context, isSample: Statement): Promise<number> {
  const { reader, signal } = context;
  let removed = 0;
  for (;;) {
    const rows = await reader.query<{ trace_id: string; spans: string }>(
      sql`SELECT trace_id, count() AS spans FROM spans WHERE organization = ${callerOrganization} AND ${isSample}
        GROUP BY trace_id LIMIT ${bind.uint32(tracesPerStatement)}`,
      { signal },
    );
    if (rows.length === 0) return removed;
    const ids = rows.map(({ trace_id }) => trace_id);
    await context.remove("spans", sql`${isSample} AND trace_id IN ${bind.texts(ids)}`);
    removed += rows.reduce((sum, { spans }) => sum + Number(spans), 0);
    const left = await tracesWithSpans(context, ids);
    const gone = ids.filter((id) => !left.has(id));
    const isGone = sql`project = ${bind.text(context.project)} AND trace_id IN ${bind.texts(gone)}`;
    if (gone.length > 0) {
      await context.remove("span_details", isGone);
      await context.remove("trace_index", isGone);
    }
  }
}

/** Those of the traces that still have spans in the project, which are no samples. */
async function tracesWithSpans(
  { reader, project, signal }: Context,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const isOne = sql`organization = ${callerOrganization} AND project = ${bind.text(project)} AND trace_id IN ${bind.texts(ids)}`;
  const rows = await reader.query<{ trace_id: string }>(
    sql`SELECT DISTINCT trace_id FROM spans WHERE ${isOne}
      AND start_time >= (SELECT min(first_start) FROM trace_index WHERE ${isOne})
      AND start_time <= (SELECT max(last_start) FROM trace_index WHERE ${isOne})`,
    { signal, duplicates: "kept" },
  );
  return new Set(rows.map(({ trace_id }) => trace_id));
}

async function removeLogs({ reader, signal, remove }: Context, isSample: Statement): Promise<number> {
  const [row] = await reader.query<{ logs: string }>(
    sql`SELECT count() AS logs FROM logs WHERE organization = ${callerOrganization} AND ${isSample}`,
    { signal },
  );
  const logs = Number(row?.logs ?? 0);
  if (logs > 0) await remove("logs", isSample);
  return logs;
}

/** Points. Their series stay until they expire, because writers rely on a series that they have written. */
async function removePoints(context: Context, isSample: Statement): Promise<number> {
  const { reader, remove, signal } = context;
  const series = await reader.query<SeriesRow>(
    sql`SELECT metric, series_id FROM series WHERE organization = ${callerOrganization} AND ${isSample}`,
    { signal },
  );
  if (series.length === 0) return 0;
  const isPoint = isOfSeries(series);
  const targets = await readTargets(context, isSample);
  if (targets.length > 0) await context.remove("points", isOfSeries(targets));
  const [row] = await reader.query<{ points: string }>(
    sql`SELECT count() AS points FROM points WHERE organization = ${callerOrganization} AND ${isPoint}`,
    { signal },
  );
  const points = Number(row?.points ?? 0);
  if (points > 0) await remove("points", isPoint);
  return points;
}

interface SeriesRow {
  readonly metric: string;
  readonly series_id: string;
}

function isOfSeries(series: readonly SeriesRow[]): Statement {
  return sql`metric IN ${bind.texts([...new Set(series.map(({ metric }) => metric))])}
    AND series_id IN ${bind.uint64s(series.map(({ series_id }) => series_id))}`;
}

/** Series of `target_info`, which have no scope, of resources that have sent samples only. */
function readTargets({ project, reader, signal }: Context, isSample: Statement): Promise<SeriesRow[]> {
  const resources = (condition: Statement): Statement =>
    sql`(SELECT resource_id FROM series WHERE organization = ${callerOrganization} AND ${condition})`;
  const isOther = sql`project = ${bind.text(project)} AND NOT (${isSample}) AND NOT ${isTargetInfo}`;
  return reader.query<SeriesRow>(
    sql`SELECT metric, series_id FROM series WHERE organization = ${callerOrganization} AND project = ${bind.text(project)}
      AND ${isTargetInfo} AND resource_id IN ${resources(isSample)} AND resource_id NOT IN ${resources(isOther)}`,
    { signal },
  );
}
