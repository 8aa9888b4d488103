/** Aggregates spans by time and fields in the store, for metrics. Returns null where only the engine is exact. */
import { keyOf } from "@sounding/traceql/spans/static-value";
import type { SpanGridRequest, SpanGridSeries } from "@sounding/traceql/storage";
import type { StaticValue } from "@sounding/traceql/syntax/ast";
import { CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import { durationBucket, durationNanos, hasDurationBucket } from "../../../store/row-expressions.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { allOf, projectCondition, startTimeCondition } from "../../conditions.ts";
import { lookUpResources } from "../../resource-lookup.ts";
import { timeSlices } from "../../time-slices.ts";
import type { TimeRange } from "../../time-window.ts";
import { conditionOf, isExact } from "./approximation.ts";
import { gridKey, type GridKey, type Resources } from "./grid-keys.ts";
import { rolledUpGrid, tupleOf } from "./rolled-up-grid.ts";
import { approximate } from "./span-condition.ts";

interface GridOptions {
  readonly reader: TenantReader;
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
}

interface GridRow {
  readonly keys: readonly (string | number)[];
  readonly bucket: string;
  readonly cells: readonly (readonly [interval: string, value: string])[];
  readonly uncertain: string;
}

export async function readSpanGrid(
  request: SpanGridRequest,
  options: GridOptions,
): Promise<readonly SpanGridSeries[] | null> {
  const keys: (GridKey | undefined)[] = request.by.map(gridKey);
  if (!keys.every((key) => key !== undefined)) return null;
  const statement = await gridStatement(request, keys, options);
  const { charge, maxSeries, signal } = request;
  const read = { signal, memory: { add: charge }, duplicates: "kept" } as const;
  if (statement === null || (await hasLargeValues(keys, request, options))) return null;
  const rows = await options.reader.query<GridRow>(statement, { ...read, maximumRows: maximumRows(maxSeries) });
  if (rows.some(({ uncertain }) => uncertain !== "0")) return null;
  return toSeries(rows, { request, keys, resources: await resourcesOf(rows, keys, options, read) });
}

/** Rows become one series if their resources differ in other attributes only. */
function maximumRows(maxSeries: number): number {
  return maxSeries * 4;
}

function rangeOf({ fromUnixNano, intervals, toUnixNano }: SpanGridRequest): TimeRange {
  const { count, firstUnixNano, stepNano } = intervals;
  const end = firstUnixNano + BigInt(count) * stepNano;
  return {
    fromUnixNano: fromUnixNano > firstUnixNano ? fromUnixNano : firstUnixNano,
    toUnixNano: (toUnixNano < end ? toUnixNano : end) - 1n,
  };
}

/** Null if the store cannot decide the condition, or measures something else. */
async function gridStatement(
  request: SpanGridRequest,
  keys: readonly GridKey[],
  { project, reader }: GridOptions,
): Promise<Statement | null> {
  const measure = measureOf(request);
  const range = rangeOf(request);
  const condition = approximate(request.condition, { ...range, project });
  if (measure === undefined || condition.must === false) return condition.may === false ? nothing : null;
  const columns = keys.flatMap((key) => key.columns);
  const rolledUp = await rolledUpGrid(request, { columns, condition, project, range, reader });
  const slices = rolledUp.rest
    .flatMap(timeSlices)
    .map((slice) => sliceStatement(request, { columns, measure, project, slice }));
  const cells = rolledUp.cells === undefined ? slices : [rolledUp.cells, ...slices];
  if (cells.length === 0) return nothing;
  return sql`SELECT keys, bucket, groupArray((interval, value)) AS cells, sum(uncertain) AS uncertain
    FROM (${join(cells, sql` UNION ALL `)}) GROUP BY keys, bucket`;
}

interface Slice {
  readonly columns: readonly Statement[];
  readonly measure: Measure;
  readonly project: string | undefined;
  readonly slice: TimeRange;
}

/** The cells of one slice. An interval may reach into the next one. */
function sliceStatement(request: SpanGridRequest, { columns, measure, project, slice }: Slice): Statement {
  const condition = approximate(request.condition, { ...slice, project });
  const { firstUnixNano, stepNano } = request.intervals;
  const interval = sql`intDiv(toUnixTimestamp64Nano(start_time) - ${bind.int64(firstUnixNano)}, ${bind.int64(stepNano)})`;
  const spans = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    startTimeCondition(slice),
    conditionOf(condition.may),
    measure.condition,
  ]);
  const uncertain = isExact(condition) ? sql`0` : sql`countIf(NOT ${conditionOf(condition.must) ?? sql`true`})`;
  const groups = [...columns, ...measure.bucket, sql`interval`];
  return sql`SELECT ${tupleOf(columns)} AS keys, ${measure.bucket[0] ?? sql`0`} AS bucket, ${interval} AS interval,
      ${measure.total} AS value, ${uncertain} AS uncertain
    FROM spans FINAL WHERE ${spans} GROUP BY ${join(groups, sql`, `)}`;
}

const nothing = sql`SELECT tuple(0) AS keys, 0 AS bucket, [(0, 0)] AS cells, 0 AS uncertain FROM spans
  WHERE organization = ${callerOrganization} AND false`;

interface Measure {
  readonly total: Statement;
  /** The upper bound of a histogram's bucket; empty for other measures. */
  readonly bucket: readonly Statement[];
  readonly condition: Statement | undefined;
}

/** Counts, and measures of durations. Sums of other numbers depend on their order. */
function measureOf({ field, measure }: SpanGridRequest): Measure | undefined {
  if (measure === "count") return { total: sql`count()`, bucket: [], condition: undefined };
  if (field?.kind !== "intrinsic" || field.intrinsic !== "duration") return undefined;
  switch (measure) {
    case "sum":
      return { total: sql`sum(${durationNanos})`, bucket: [], condition: undefined };
    case "min":
      return { total: sql`min(${durationNanos})`, bucket: [], condition: undefined };
    case "max":
      return { total: sql`max(${durationNanos})`, bucket: [], condition: undefined };
    case "histogram":
      return { total: sql`count()`, bucket: [durationBucket], condition: hasDurationBucket };
  }
}

/** Whether a span has one of the attributes outside of its row, where statements on spans do not see it. */
async function hasLargeValues(
  keys: readonly GridKey[],
  request: SpanGridRequest,
  { project, reader }: GridOptions,
): Promise<boolean> {
  const names = keys.flatMap(({ attribute }) => attribute ?? []);
  if (names.length === 0) return false;
  const conditions = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    startTimeCondition(rangeOf(request)),
    sql`hasAny(mapKeys(attributes), ${bind.texts(names)})`,
  ]);
  const rows = await reader.query(sql`SELECT 1 FROM span_details WHERE ${conditions} LIMIT 1`, {
    signal: request.signal,
    duplicates: "kept",
  });
  return rows.length > 0;
}

async function resourcesOf(
  rows: readonly GridRow[],
  keys: readonly GridKey[],
  { reader }: GridOptions,
  { memory, signal }: { readonly memory: { add(bytes: number): void }; readonly signal: AbortSignal },
): Promise<Resources> {
  const positions: number[] = [];
  let start = 0;
  for (const { columns, resourceAt } of keys) {
    if (resourceAt !== undefined) positions.push(start + resourceAt);
    start += columns.length;
  }
  if (positions.length === 0) return new Map();
  const ids = new Set(rows.flatMap((row) => positions.map((position) => String(row.keys[position]))));
  const described = [...ids].map((id) => ({ resource_id: id, scope_id: "0" }));
  return (await lookUpResources(reader, described, { signal, memory })).resources;
}

interface Conversion {
  readonly request: SpanGridRequest;
  readonly keys: readonly GridKey[];
  readonly resources: Resources;
}

interface BuiltSeries extends SpanGridSeries {
  readonly values: Float64Array;
}

const greatestExact = 2 ** 53;

/** Null if a sum is not exact. */
async function toSeries(rows: readonly GridRow[], conversion: Conversion): Promise<readonly SpanGridSeries[] | null> {
  const { count } = conversion.request.intervals;
  const { charge, measure } = conversion.request;
  const found = new Map<string, BuiltSeries>();
  const yielder = new CooperativeYield();
  for (const row of rows) {
    const by = valuesOf(row, conversion);
    const bucket = measure === "histogram" ? Number(row.bucket) : null;
    const key = JSON.stringify([bucket, ...by.map(keyOf)]);
    let series = found.get(key);
    if (series === undefined) {
      charge(count * bytesPerCell);
      series = { by, bucket, values: new Float64Array(count), present: new Uint8Array(count) };
      found.set(key, series);
    }
    for (const [interval, value] of row.cells) {
      add(series, Number(interval), Number(value), measure);
      if (yielder.isDue()) await yielder.yield();
    }
  }
  const isExactSum =
    measure !== "sum" || [...found.values()].every(({ values }) => values.every((value) => value < greatestExact));
  return isExactSum ? [...found.values()] : null;
}

/** A value, and whether it is present. */
const bytesPerCell = 9;

function valuesOf({ keys: values }: GridRow, { keys, resources }: Conversion): StaticValue[] {
  const texts = values.map(String);
  let start = 0;
  return keys.map((key) => {
    const own = texts.slice(start, start + key.columns.length);
    start += key.columns.length;
    return key.valueOf(own, resources);
  });
}

function add({ present, values }: BuiltSeries, at: number, value: number, measure: SpanGridRequest["measure"]): void {
  if (present[at] === 0) values[at] = value;
  else if (measure === "min") values[at] = Math.min(values[at]!, value);
  else if (measure === "max") values[at] = Math.max(values[at]!, value);
  else values[at]! += value;
  present[at] = 1;
}
