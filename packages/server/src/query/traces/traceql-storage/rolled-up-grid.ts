/** Reads cells of a grid from sums of spans by minute, where they hold everything that the grid needs. */
import type { SpanGridRequest } from "@sounding/traceql/storage";
import type { AttributeField, FieldExpression, IntrinsicField } from "@sounding/traceql/syntax/ast";
import {
  isWholeMinute,
  minuteUnixNano,
  rolledUpPart,
  type RolledUpPart,
} from "../../../store/rollups/rolled-up-part.ts";
import { spanMinutes } from "../../../store/rollups/rollup-tables.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { allOf, projectCondition } from "../../conditions.ts";
import type { TimeRange } from "../../time-window.ts";
import { conditionOf, isExact, type Approximation } from "./approximation.ts";

interface GridPart {
  /** What spans are grouped by. */
  readonly columns: readonly Statement[];
  readonly condition: Approximation;
  readonly project: string | undefined;
  readonly range: TimeRange;
  readonly reader: TenantReader;
}

interface RolledUpGrid extends Pick<RolledUpPart, "rest"> {
  /** Selects keys, bucket, interval, value and uncertain; undefined if there are no sums. */
  readonly cells: Statement | undefined;
}

export async function rolledUpGrid(request: SpanGridRequest, part: GridPart): Promise<RolledUpGrid> {
  const { condition, project, range, reader } = part;
  const { by, condition: expression, intervals, signal } = request;
  const isSummed =
    isWholeMinute(intervals.firstUnixNano - 1n) &&
    isWholeMinute(intervals.stepNano) &&
    by.every(isSummedField) &&
    isExact(condition) &&
    (expression === null || concernsSummedFields(expression));
  const found = await rolledUpPart(spanMinutes, range, { reader, signal, isSummed });
  if (found.condition === undefined) return { cells: undefined, rest: found.rest };
  const ofMinutes = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    found.condition,
    conditionOf(condition.may),
  ]);
  return { cells: cellsStatement(request, part.columns, ofMinutes), rest: found.rest };
}

function cellsStatement(
  { intervals: { firstUnixNano, stepNano }, measure }: SpanGridRequest,
  columns: readonly Statement[],
  condition: Statement,
): Statement {
  const isHistogram = measure === "histogram";
  const buckets = isHistogram
    ? sql`ARRAY JOIN mapKeys(spans_by_duration) AS duration_bucket, mapValues(spans_by_duration) AS bucket_spans`
    : sql``;
  const interval = sql`intDiv(${minuteUnixNano} + 1 - ${bind.int64(firstUnixNano)}, ${bind.int64(stepNano)})`;
  const groups = [...columns, isHistogram ? sql`bucket, interval` : sql`interval`];
  return sql`SELECT ${tupleOf(columns)} AS keys, ${isHistogram ? sql`duration_bucket` : sql`0`} AS bucket, ${interval} AS interval,
      ${totals[measure]} AS value, 0 AS uncertain
    FROM span_minutes ${buckets} WHERE ${condition} GROUP BY ${join(groups, sql`, `)}`;
}

/** Of counts and of durations. */
const totals: Readonly<Record<SpanGridRequest["measure"], Statement>> = {
  count: sql`sum(spans)`,
  sum: sql`sum(duration_nanos)`,
  min: sql`min(shortest_nanos)`,
  max: sql`max(longest_nanos)`,
  histogram: sql`sum(bucket_spans)`,
};

export function tupleOf(columns: readonly Statement[]): Statement {
  return columns.length === 0 ? sql`tuple(0)` : sql`tuple(${join(columns, sql`, `)})`;
}

/** Whether all fields of a condition are columns of the sums. */
function concernsSummedFields(expression: FieldExpression): boolean {
  switch (expression.kind) {
    case "static":
      return true;
    case "attribute":
    case "intrinsic":
      return isSummedField(expression);
    case "unary":
      return concernsSummedFields(expression.operand);
    case "field-operation":
      return concernsSummedFields(expression.left) && concernsSummedFields(expression.right);
  }
}

function isSummedField(field: AttributeField | IntrinsicField): boolean {
  if (field.kind === "intrinsic") return field.intrinsic === "kind" || field.intrinsic === "status";
  return field.scope === "resource" && !field.ofParent;
}
