/** Reads cells of windows over spans from the sums of calls by minute and hour, where these have all that is asked. */
import { allOf, projectCondition } from "../../conditions.ts";
import type { SpanLabel } from "../../../store/span-labels.ts";
import { isWholeMinute, minuteUnixNano, rolledUpPart } from "../../../store/rollups/rolled-up-part.ts";
import { boundOfKey, callMinutes } from "../../../store/rollups/call-minutes.ts";
import { hourNanos } from "../../../store/rollups/rollup.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../../../store/statement.ts";
import { labelCondition } from "./span-matchers.ts";
import { matchedLabels, type SpanSelection, textList } from "./span-selection.ts";
import type { SpanSeriesName } from "./span-metrics.ts";
import type { SpanQuery } from "./span-series.ts";

/** Cells of equal length, one after the other, in milliseconds. */
export interface CellTimes {
  readonly originMs: number;
  readonly lengthMs: number;
  readonly count: number;
}

interface CellsRequest {
  readonly name: SpanSeriesName;
  readonly selection: SpanSelection & { readonly signal: AbortSignal };
  readonly cells: CellTimes;
  readonly query: SpanQuery;
}

interface SummedCells {
  /** Selects label_values, bucket, cell and amount; undefined if there are no sums. */
  readonly statement: Statement | undefined;
  /** What must be read from spans, by their ends in Unix milliseconds, both included. */
  readonly rest: readonly { readonly fromMs: number; readonly toMs: number }[];
}

const msNanos = 1_000_000n;

export async function summedCells(request: CellsRequest): Promise<SummedCells> {
  const { cells, query, selection } = request;
  const { fromMs, metric, project, signal, toMs } = selection;
  const labels = columnsOf(request);
  // Ends count in whole milliseconds, so none is between the last millisecond before the range and its start.
  const range = { fromUnixNano: nanosOf(fromMs - 1) + 1n, toUnixNano: nanosOf(toMs) };
  const isSummed = metric.sums !== undefined && labels !== null && haveWhole(cells, isWholeMinute);
  const { reader } = query;
  const found = await rolledUpPart(callMinutes, range, { reader, signal, isSummed });
  const rest = found.rest.map(({ fromUnixNano, toUnixNano }) => ({
    fromMs: Number((fromUnixNano + msNanos - 1n) / msNanos),
    toMs: Number(toUnixNano / msNanos),
  }));
  if (found.condition === undefined || labels === null) return { statement: undefined, rest };
  const condition = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    found.condition,
    metric.sums!.condition,
    ...labels.conditions,
    sql`is_detailed = ${bind.uint8(labels.isDetailed ? 1 : 0)}`,
    metric.itemCondition,
  ]);
  return { statement: cellsStatement(request, labels.columns, condition), rest };
}

function nanosOf(ms: number): bigint {
  return BigInt(Math.max(0, Math.floor(ms))) * msNanos;
}

/** Whether sums of that length are never divided between two cells; a single cell is never divided. */
function haveWhole({ count, lengthMs, originMs }: CellTimes, isWhole: (unixNano: bigint) => boolean): boolean {
  return count === 1 || [originMs, lengthMs].every((ms) => Number.isInteger(ms) && isWhole(BigInt(ms) * msNanos));
}

function cellsStatement(
  { cells, name: { metric, part } }: CellsRequest,
  labels: readonly Statement[],
  condition: Statement,
): Statement {
  const { arrayJoin = metric.arrayJoin, buckets, count, value } = metric.sums!;
  const isHistogram = part === "bucket";
  const amount = isHistogram ? sql`bucket_calls` : part === "count" ? count! : value;
  const items = isHistogram
    ? sql` ARRAY JOIN mapKeys(${buckets!}) AS bucket_key, mapValues(${buckets!}) AS bucket_calls`
    : arrayJoin === undefined
      ? sql``
      : sql` ARRAY JOIN ${arrayJoin}`;
  const table = haveWhole(cells, isWholeHour) ? sql`call_hours` : sql`call_minutes`;
  const bucket = isHistogram ? boundOfKey(sql`bucket_key`) : sql`0.`;
  const cell = sql`intDiv(${minuteUnixNano} - ${bind.int64(nanosOf(cells.originMs))}, ${bind.int64(nanosOf(cells.lengthMs))})`;
  const keys = [...labels, ...(isHistogram ? [sql`bucket_key`] : []), sql`cell`];
  return sql`SELECT ${textList(labels)} AS label_values, ${bucket} AS bucket, ${cell} AS cell, toFloat64(sum(${amount})) AS amount
    FROM ${table}${items} WHERE ${condition} GROUP BY ${join(keys, sql`, `)}`;
}

function isWholeHour(unixNano: bigint): boolean {
  return unixNano % hourNanos === 0n;
}

interface SummedColumns {
  readonly columns: readonly Statement[];
  readonly conditions: readonly Statement[];
  readonly isDetailed: boolean;
}

/** Null if the sums lack a label. */
function columnsOf({ selection }: CellsRequest): SummedColumns | null {
  const { labels, metric } = selection;
  const matched = matchedLabels(selection);
  const used = [...labels, ...(matched ?? []).map(({ label }) => label)];
  if (matched === null || metric.required !== undefined || used.some((label) => columnOf(label) === undefined)) {
    return null;
  }
  return {
    columns: labels.map((label) => columnOf(label)!),
    conditions: matched.map(({ label, matcher }) => labelCondition(columnOf(label)!, matcher)),
    isDetailed: used.some((label) => label in detailColumns),
  };
}

const commonColumns: Partial<Record<SpanLabel, Statement>> = {
  project_name: sql`project`,
  service_name: sql`service`,
  model_key: sql`model_key`,
  provider: sql`provider`,
  operation: sql`operation`,
  status: sql`status`,
  token_type: sql`token_type`,
  agent_class: sql`agent_class`,
};

/** Only detailed sums have them. */
const detailColumns: Partial<Record<SpanLabel, Statement>> = {
  agent_name: sql`agent_name`,
  tool_name: sql`tool_name`,
  category: sql`category`,
  voice: sql`voice`,
};

function columnOf(label: SpanLabel): Statement | undefined {
  return commonColumns[label] ?? detailColumns[label];
}
