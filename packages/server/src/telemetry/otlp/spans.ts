/** Spans as rows of `spans`, and of `span_details` for what few spans have. */
import { largeAttributeBytes, spanDetails, spans } from "../../store/schema.ts";
import { AttributeFinder } from "./attribute-finder.ts";
import { AttributeReader, AttributeWriter } from "./attributes.ts";
import type { ResourceScope } from "./resource-scopes.ts";
import { isId } from "./ids.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { spanAttributes } from "./known-attributes.ts";
import { copyOf, writeCountOf, uint32Of, writeSpanIdOf, writeTextOf, writeTraceIdOf } from "./message-fields.ts";
import { span, spanParts } from "./messages.ts";
import { MessageScan, RangeList } from "./message-scan.ts";
import { timeProblem } from "./time-check.ts";

type SpanColumns = ReturnType<typeof spanBlock>["columns"];
type DetailColumns = ReturnType<typeof detailBlock>["columns"];

function spanBlock(builder: ExportBuilder) {
  return builder.block(spans);
}

function detailBlock(builder: ExportBuilder) {
  return builder.block(spanDetails);
}

const field = span.fields;
const statusField = spanParts.status.fields;
const eventField = spanParts.event.fields;
const linkField = spanParts.link.fields;
const { targets } = spanAttributes;

const unspecified = 0;
const highestKind = 5;
const highestStatus = 2;

export class SpanDecoder {
  readonly #builder: ExportBuilder;
  readonly #span = new MessageScan(span);
  readonly #status = new MessageScan(spanParts.status);
  readonly #event = new MessageScan(spanParts.event);
  readonly #link = new MessageScan(spanParts.link);
  readonly #reader = new AttributeReader();
  readonly #writer = new AttributeWriter();
  readonly #found = new AttributeFinder(spanAttributes);
  readonly #large = new RangeList();

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
  }

  count(): number {
    return 1;
  }

  add(bytes: Uint8Array, start: number, end: number, group: ResourceScope): void {
    const scan = this.#span;
    scan.read(bytes, start, end);
    const problem = this.#problem(bytes, group);
    if (problem !== undefined) {
      this.#builder.reject(problem);
      return;
    }
    const block = spanBlock(this.#builder);
    const { columns } = block;
    this.#writeHead(columns, bytes, group);
    this.#writeAttributes(columns, bytes);
    const hasDetails = this.#hasDetails(bytes);
    columns.has_details.unsigned(hasDetails ? 1 : 0);
    columns.days.unsigned(group.days);
    block.endRow();
    if (hasDetails) this.#writeDetails(bytes, group);
    this.#builder.accepted += 1;
  }

  #hasDetails(bytes: Uint8Array): boolean {
    const scan = this.#span;
    return (
      this.#large.length > 0 ||
      scan.has(field.events) ||
      scan.has(field.links) ||
      uint32Of(bytes, scan, field.droppedAttributesCount) +
        uint32Of(bytes, scan, field.droppedEventsCount) +
        uint32Of(bytes, scan, field.droppedLinksCount) >
        0
    );
  }

  #problem(bytes: Uint8Array, group: ResourceScope): string | undefined {
    const { starts, ends } = this.#span;
    const { traceId, spanId, startTimeUnixNano } = field;
    if (!isId(bytes, starts[traceId]!, ends[traceId]!, 16)) return "without a valid trace ID (16 bytes, not all zero)";
    if (!isId(bytes, starts[spanId]!, ends[spanId]!, 8)) return "without a valid span ID (8 bytes, not all zero)";
    if (starts[startTimeUnixNano] === 0) return "without a start time";
    return timeProblem(bytes, starts[startTimeUnixNano]!, group);
  }

  #writeHead(columns: SpanColumns, bytes: Uint8Array, group: ResourceScope): void {
    const scan = this.#span;
    const { starts, ends } = scan;
    columns.organization.bytes(this.#builder.organization, 0, this.#builder.organization.length);
    columns.project.bytes(group.project, 0, group.project.length);
    columns.trace_id.hex(bytes, starts[field.traceId]!, ends[field.traceId]!);
    columns.span_id.hex(bytes, starts[field.spanId]!, ends[field.spanId]!);
    writeSpanIdOf(columns.parent_span_id, bytes, scan, field.parentSpanId);
    writeTextOf(columns.trace_state, bytes, scan, field.traceState);
    copyOf(columns.flags, bytes, scan, field.flags);
    writeTextOf(columns.name, bytes, scan, field.name);
    const kind = uint32Of(bytes, scan, field.kind);
    columns.kind.unsigned(kind > highestKind ? unspecified : kind);
    columns.start_time.copy(bytes, starts[field.startTimeUnixNano]!);
    copyOf(columns.end_time, bytes, scan, field.endTimeUnixNano);
    columns.service.bytes(group.service, 0, group.service.length);
    columns.resource_id.copy(group.resourceId, 0);
    columns.scope_id.copy(group.scopeId, 0);
    if (starts[field.status] !== 0) this.#writeStatus(columns, bytes, starts[field.status]!, ends[field.status]!);
  }

  #writeStatus(columns: SpanColumns, ...[bytes, start, end]: [Uint8Array, number, number]): void {
    const status = this.#status;
    status.read(bytes, start, end);
    const code = uint32Of(bytes, status, statusField.code);
    columns.status_code.unsigned(code > highestStatus ? unspecified : code);
    writeTextOf(columns.status_message, bytes, status, statusField.message);
  }

  #writeAttributes(columns: SpanColumns, bytes: Uint8Array): void {
    const list = this.#span.list(field.attributes);
    const found = this.#found;
    const reader = this.#reader;
    const large = this.#large;
    found.reset();
    large.clear();
    for (let index = 0; index < list.length; index += 1) {
      reader.read(bytes, list.start(index), list.end(index));
      found.note(bytes, reader);
      if (reader.valueEnd - reader.valueStart > largeAttributeBytes) large.add(list.start(index), list.end(index));
      else this.#writer.add(columns.attributes, bytes, reader);
    }
    this.#writer.end(columns.attributes, columns.attribute_types);
    found.writeText(columns.operation, targets.operation, bytes);
    found.writeText(columns.provider, targets.provider, bytes);
    found.writeText(columns.request_model, targets.request_model, bytes);
    found.writeText(columns.response_model, targets.response_model, bytes);
    found.writeText(columns.agent_name, targets.agent_name, bytes);
    found.writeText(columns.agent_class, targets.agent_class, bytes);
    found.writeText(columns.session_id, targets.session_id, bytes);
    found.writeCount(columns.input_tokens, targets.input_tokens, bytes);
    found.writeCount(columns.output_tokens, targets.output_tokens, bytes);
    found.writeText(columns.error_type, targets.error_type, bytes);
  }

  #writeDetails(bytes: Uint8Array, group: ResourceScope): void {
    const { starts, ends } = this.#span;
    const block = detailBlock(this.#builder);
    const { columns } = block;
    columns.organization.bytes(this.#builder.organization, 0, this.#builder.organization.length);
    columns.project.bytes(group.project, 0, group.project.length);
    columns.trace_id.hex(bytes, starts[field.traceId]!, ends[field.traceId]!);
    columns.span_id.hex(bytes, starts[field.spanId]!, ends[field.spanId]!);
    columns.start_time.copy(bytes, starts[field.startTimeUnixNano]!);
    this.#writer.write({ map: columns.attributes, types: columns.attribute_types }, bytes, this.#large);
    this.#writeEvents(columns, bytes);
    this.#writeLinks(columns, bytes);
    writeCountOf(columns.dropped_attributes, bytes, this.#span, field.droppedAttributesCount);
    writeCountOf(columns.dropped_events, bytes, this.#span, field.droppedEventsCount);
    writeCountOf(columns.dropped_links, bytes, this.#span, field.droppedLinksCount);
    columns.days.unsigned(group.days);
    block.endRow();
  }

  #writeEvents(columns: DetailColumns, bytes: Uint8Array): void {
    const events = this.#span.list(field.events);
    const scan = this.#event;
    for (let index = 0; index < events.length; index += 1) {
      scan.read(bytes, events.start(index), events.end(index));
      copyOf(columns.event_times.items, bytes, scan, eventField.timeUnixNano);
      writeTextOf(columns.event_names.items, bytes, scan, eventField.name);
      const target = { map: columns.event_attributes.items, types: columns.event_attribute_types.items };
      this.#writer.write(target, bytes, scan.list(eventField.attributes));
      writeCountOf(columns.event_dropped_attributes.items, bytes, scan, eventField.droppedAttributesCount);
    }
    columns.event_times.end();
    columns.event_names.end();
    columns.event_attributes.end();
    columns.event_attribute_types.end();
    columns.event_dropped_attributes.end();
  }

  #writeLinks(columns: DetailColumns, bytes: Uint8Array): void {
    const links = this.#span.list(field.links);
    const scan = this.#link;
    for (let index = 0; index < links.length; index += 1) {
      scan.read(bytes, links.start(index), links.end(index));
      writeTraceIdOf(columns.link_trace_ids.items, bytes, scan, linkField.traceId);
      writeSpanIdOf(columns.link_span_ids.items, bytes, scan, linkField.spanId);
      writeTextOf(columns.link_trace_states.items, bytes, scan, linkField.traceState);
      copyOf(columns.link_flags.items, bytes, scan, linkField.flags);
      const target = { map: columns.link_attributes.items, types: columns.link_attribute_types.items };
      this.#writer.write(target, bytes, scan.list(linkField.attributes));
      writeCountOf(columns.link_dropped_attributes.items, bytes, scan, linkField.droppedAttributesCount);
    }
    columns.link_trace_ids.end();
    columns.link_span_ids.end();
    columns.link_trace_states.end();
    columns.link_flags.end();
    columns.link_attributes.end();
    columns.link_attribute_types.end();
    columns.link_dropped_attributes.end();
  }
}
