/** Writes the rows of spans, which come from OTLP requests or from Sounding's own calls. */
import type { ColumnWriters } from "../../store/block.ts";
import type { FixedColumn, MapColumn, StringColumn } from "../../store/column-writers.ts";
import { spanDetails, spans } from "../../store/schema.ts";
import { spanAttributePositions } from "./known-attributes.ts";
import type { RecordGroup } from "./record-group.ts";
import type { RowBuilder } from "./row-builder.ts";

const position = spanAttributePositions;

export type SpanDetailColumns = ColumnWriters<typeof spanDetails.columns>;
export type CallKeyColumns = Pick<ColumnWriters<typeof spans.columns>, "repeated" | "response_key" | "request_key">;

/** A span as its source has it. Each method writes exactly one value to each column that it is given. */
export interface SpanSource {
  writeTraceId(column: StringColumn): void;
  writeSpanId(column: StringColumn): void;
  /** Empty for a root. */
  writeParentSpanId(column: StringColumn): void;
  writeTraceState(column: StringColumn): void;
  writeFlags(column: FixedColumn): void;
  writeName(column: StringColumn): void;
  writeStartTime(column: FixedColumn): void;
  writeEndTime(column: FixedColumn): void;
  /** OTLP's SpanKind. */
  readonly kind: number;
  /** OTLP's StatusCode and the status' message. */
  writeStatus(code: FixedColumn, message: StringColumn): void;
  /** Writes the attributes except those above `largeAttributeBytes`, and collects the known ones. */
  writeAttributes(map: MapColumn, types: StringColumn): void;
  /** The known attribute at this position (`spanAttributePositions`). Only after `writeAttributes`, like the next ones. */
  writeKnownText(column: StringColumn, attribute: number): void;
  writeKnownCount(column: FixedColumn, attribute: number): void;
  /** What the call cost, in billionths of the currency's unit; undefined if it is not known. Only after `writeAttributes`. */
  readonly costBillionths: number | undefined;
  /** Of costs: its code in ISO 4217. */
  readonly currency: string;
  /** Whether this server served the call that the span describes. */
  readonly isServed: boolean;
  /** Writes the keys of a model call's span (call-keys.ts), or their defaults. */
  writeCallKeys(columns: CallKeyColumns): void;
  /** Whether the span needs a row in `span_details`. */
  readonly hasDetails: boolean;
  /** Writes the attributes above `largeAttributeBytes`, events, links, and counts of what the sender dropped. */
  writeDetails(columns: SpanDetailColumns): void;
}

export function writeSpan(builder: RowBuilder, span: SpanSource, group: RecordGroup): void {
  const block = builder.block(spans);
  const { columns } = block;
  columns.organization.bytes(builder.organization, 0, builder.organization.length);
  columns.project.bytes(group.project, 0, group.project.length);
  span.writeTraceId(columns.trace_id);
  span.writeSpanId(columns.span_id);
  span.writeParentSpanId(columns.parent_span_id);
  span.writeTraceState(columns.trace_state);
  span.writeFlags(columns.flags);
  span.writeName(columns.name);
  columns.kind.unsigned(span.kind);
  span.writeStartTime(columns.start_time);
  span.writeEndTime(columns.end_time);
  span.writeStatus(columns.status_code, columns.status_message);
  columns.service.bytes(group.service, 0, group.service.length);
  columns.resource_id.copy(group.resourceId, 0);
  columns.scope_id.copy(group.scopeId, 0);
  span.writeAttributes(columns.attributes, columns.attribute_types);
  span.writeKnownText(columns.operation, position.operation);
  span.writeKnownText(columns.provider, position.provider);
  span.writeKnownText(columns.request_model, position.request_model);
  span.writeKnownText(columns.response_model, position.response_model);
  span.writeKnownText(columns.agent_name, position.agent_name);
  span.writeKnownText(columns.agent_class, position.agent_class);
  span.writeKnownText(columns.session_id, position.session_id);
  span.writeKnownCount(columns.input_tokens, position.input_tokens);
  span.writeKnownCount(columns.output_tokens, position.output_tokens);
  span.writeKnownCount(columns.cache_read_tokens, position.cache_read_tokens);
  span.writeKnownCount(columns.cache_write_tokens, position.cache_write_tokens);
  const { costBillionths } = span;
  columns.priced.unsigned(costBillionths === undefined ? 0 : 1);
  columns.cost_billionths.unsigned(costBillionths ?? 0);
  columns.currency.text(costBillionths === undefined ? "" : span.currency);
  span.writeKnownText(columns.error_type, position.error_type);
  span.writeKnownText(columns.tool_name, position.tool_name);
  columns.served.unsigned(span.isServed ? 1 : 0);
  span.writeCallKeys(columns);
  const { hasDetails } = span;
  columns.has_details.unsigned(hasDetails ? 1 : 0);
  columns.days.unsigned(group.days);
  block.endRow();
  if (hasDetails) writeDetails(builder, span, group);
}

function writeDetails(builder: RowBuilder, span: SpanSource, group: RecordGroup): void {
  const block = builder.block(spanDetails);
  const { columns } = block;
  columns.organization.bytes(builder.organization, 0, builder.organization.length);
  columns.project.bytes(group.project, 0, group.project.length);
  span.writeTraceId(columns.trace_id);
  span.writeSpanId(columns.span_id);
  span.writeStartTime(columns.start_time);
  span.writeDetails(columns);
  columns.days.unsigned(group.days);
  block.endRow();
}
