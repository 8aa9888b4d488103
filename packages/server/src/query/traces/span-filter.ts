/** Turns a preset and the filters of a trace query into a condition on spans. A trace matches if one of its spans does. */
import { spanStatuses } from "../../api/observability.ts";
import { AppError } from "../../errors.ts";
import { hasSealedMessage, isSealed } from "../../store/row-expressions.ts";
import { spanLabels } from "../../store/span-labels.ts";
import { bind, callerOrganization, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { attributeCondition, attributeTexts, containsText, serviceCondition } from "../attribute-condition.ts";
import { allOf, projectCondition, startTimeCondition } from "../conditions.ts";
import type { TimeRange } from "../time-window.ts";
import type { TracePreset } from "./trace-presets.ts";

type Absent = null | undefined;

/** The filters as the API names them. */
export interface SpanFilters {
  readonly service_name?: string | Absent;
  readonly operation?: string | Absent;
  readonly model?: string | Absent;
  readonly status?: (typeof spanStatuses)[number] | Absent;
  readonly min_duration_ms?: number | Absent;
  readonly max_duration_ms?: number | Absent;
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | Absent;
  readonly conversation_id?: string | Absent;
  readonly user_id?: string | Absent;
  readonly key_id?: string | Absent;
  readonly search?: string | Absent;
}

export interface SpanCondition {
  /** The condition on spans that started in a range; undefined if every span matches. */
  in(range: TimeRange): Statement | undefined;
  /** Whether it reads more than the columns of `spans`, and the more, the longer the range is. */
  readonly readsDetails: boolean;
}

interface FilterOptions {
  readonly preset: TracePreset;
  /** Undefined means every project of the organization. */
  readonly project: string | undefined;
  readonly signal: AbortSignal;
}

/** @throws AppError invalid_request if no duration can match, and as the store does */
export async function spanCondition(
  reader: TenantReader,
  filters: SpanFilters,
  { preset, project, signal }: FilterOptions,
): Promise<SpanCondition> {
  const { search } = filters;
  const attributes = [...attributeTexts(filters.attributes)];
  const fixed = [
    preset.condition,
    ...columnConditions(filters),
    ...durationConditions(filters),
    ...(await Promise.all(attributes.map((attribute) => attributeCondition(reader, attribute, signal)))),
  ].filter((condition) => condition !== undefined);
  return {
    in(range) {
      const text = search == null ? [] : [textCondition(search, project, range)];
      const conditions = [...fixed, ...text];
      return conditions.length === 0 ? undefined : allOf(conditions);
    },
    readsDetails: search != null,
  };
}

function columnConditions(filters: SpanFilters): (Statement | undefined)[] {
  const { conversation_id: conversation, key_id: key, model, operation, service_name: service, status } = filters;
  const { user_id: user } = filters;
  return [
    service == null ? undefined : serviceCondition(service),
    operation == null ? undefined : sql`operation = ${bind.text(operation)}`,
    model == null ? undefined : sql`(request_model = ${bind.text(model)} OR response_model = ${bind.text(model)})`,
    // OTLP's StatusCode.
    status == null ? undefined : sql`status_code = ${bind.uint8(spanStatuses.indexOf(status))}`,
    conversation == null ? undefined : sql`session_id = ${bind.text(conversation)}`,
    user == null ? undefined : sql`${spanLabels.user_id} = ${bind.text(user)}`,
    key == null ? undefined : sql`${spanLabels.key_id} = ${bind.text(key)}`,
  ];
}

const spanNanos = sql`(toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time))`;

function durationConditions({ max_duration_ms: most, min_duration_ms: least }: SpanFilters): Statement[] {
  if (least != null && most != null && least > most) {
    throw new AppError(
      "invalid_request",
      `min_duration_ms is ${least}; expected at most max_duration_ms, which is ${most}.`,
      { param: "min_duration_ms" },
    );
  }
  const conditions: Statement[] = [];
  if (least != null) conditions.push(sql`${spanNanos} >= ${bind.int64(toNanos(least))}`);
  if (most != null) conditions.push(sql`${spanNanos} <= ${bind.int64(toNanos(most))}`);
  return conditions;
}

function toNanos(ms: number): bigint {
  return BigInt(Math.round(ms * 1e6));
}

/** Large attributes and events are read only for spans that have some, and only those of the range. */
function textCondition(text: string, project: string | undefined, range: TimeRange): Statement {
  // Letters of what is encrypted are no text.
  const inMap = (map: Statement): Statement =>
    sql`arrayExists(value -> NOT ${isSealed(sql`value`)} AND ${containsAsWritten(sql`value`, text)},
      mapValues(${map}))`;
  const ofDetails = allOf([
    sql`organization = ${callerOrganization}`,
    projectCondition(project),
    startTimeCondition(range),
    sql`(${inMap(sql`attributes`)} OR arrayExists(event -> ${inMap(sql`event`)}, event_attributes))`,
  ]);
  return sql`(${containsText(sql`name`, text)} OR (NOT ${hasSealedMessage} AND ${containsText(sql`status_message`, text)}) OR ${inMap(sql`attributes`)}
    OR (has_details = 1 AND (trace_id, span_id) IN (SELECT trace_id, span_id FROM span_details WHERE ${ofDetails})))`;
}

/** Prompts and answers are recorded as JSON, which escapes some characters. */
function containsAsWritten(value: Statement, text: string): Statement {
  const inJson = JSON.stringify(text.toWellFormed()).slice(1, -1);
  const asIs = containsText(value, text);
  return inJson === text ? asIs : sql`(${asIs} OR ${containsText(value, inJson)})`;
}
