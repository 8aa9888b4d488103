/** Spans as rows of `spans`, and of `span_details` for what few spans have. */
import { largeAttributeBytes, spanDetails, spans } from "../../store/schema.ts";
import { writeText } from "./any-value.ts";
import { AttributeFinder } from "./attribute-finder.ts";
import { AttributeReader, AttributeWriter } from "./attributes.ts";
import type { ResourceScope } from "./resource-scopes.ts";
import { isId, writeIdOrNothing } from "./ids.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { spanAttributes } from "./known-attributes.ts";
import { span, spanParts } from "./messages.ts";
import { MessageScan, RangeList } from "./message-scan.ts";
import { fixed32At, uint32At } from "./numbers.ts";
import { timeProblem } from "./time-check.ts";

type SpanColumns = ReturnType<typeof spanBlock>["columns"];
type DetailColumns = ReturnType<typeof detailBlock>["columns"];

function spanBlock(builder: ExportBuilder) {
  return builder.block(spans);
}

function detailBlock(builder: ExportBuilder) {
  return builder.block(spanDetails);
}

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
      scan.has(11) ||
      scan.has(13) ||
      countAt(bytes, scan, 10) + countAt(bytes, scan, 12) + countAt(bytes, scan, 14) > 0
    );
  }

  #problem(bytes: Uint8Array, group: ResourceScope): string | undefined {
    const { starts, ends } = this.#span;
    if (!isId(bytes, starts[1]!, ends[1]!, 16)) return "without a valid trace ID (16 bytes, not all zero)";
    if (!isId(bytes, starts[2]!, ends[2]!, 8)) return "without a valid span ID (8 bytes, not all zero)";
    if (starts[7] === 0) return "without a start time";
    return timeProblem(bytes, starts[7]!, group);
  }

  #writeHead(columns: SpanColumns, bytes: Uint8Array, group: ResourceScope): void {
    const { starts, ends } = this.#span;
    columns.organization.bytes(this.#builder.organization, 0, this.#builder.organization.length);
    columns.project.bytes(group.project, 0, group.project.length);
    columns.trace_id.hex(bytes, starts[1]!, ends[1]!);
    columns.span_id.hex(bytes, starts[2]!, ends[2]!);
    writeIdOrNothing(columns.parent_span_id, bytes, { start: starts[4]!, end: ends[4]!, size: 8 });
    writeText(columns.trace_state, bytes, starts[3]!, ends[3]!);
    if (starts[16] !== 0) columns.flags.unsigned(fixed32At(bytes, starts[16]!));
    writeText(columns.name, bytes, starts[5]!, ends[5]!);
    const kind = starts[6] === 0 ? unspecified : uint32At(bytes, starts[6]!);
    columns.kind.unsigned(kind > highestKind ? unspecified : kind);
    columns.start_time.copy(bytes, starts[7]!);
    if (starts[8] !== 0) columns.end_time.copy(bytes, starts[8]!);
    columns.service.bytes(group.service, 0, group.service.length);
    columns.resource_id.copy(group.resourceId, 0);
    columns.scope_id.copy(group.scopeId, 0);
    if (starts[15] !== 0) this.#writeStatus(columns, bytes, starts[15]!, ends[15]!);
  }

  #writeStatus(columns: SpanColumns, ...[bytes, start, end]: [Uint8Array, number, number]): void {
    const status = this.#status;
    status.read(bytes, start, end);
    const code = status.has(3) ? uint32At(bytes, status.starts[3]!) : unspecified;
    columns.status_code.unsigned(code > highestStatus ? unspecified : code);
    writeText(columns.status_message, bytes, status.starts[2]!, status.ends[2]!);
  }

  #writeAttributes(columns: SpanColumns, bytes: Uint8Array): void {
    const list = this.#span.list(9);
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
    found.writeText(columns.operation, 0, bytes);
    found.writeText(columns.provider, 1, bytes);
    found.writeText(columns.request_model, 2, bytes);
    found.writeText(columns.response_model, 3, bytes);
    found.writeText(columns.agent_name, 4, bytes);
    found.writeText(columns.agent_class, 5, bytes);
    found.writeText(columns.session_id, 6, bytes);
    found.writeCount(columns.input_tokens, 7, bytes);
    found.writeCount(columns.output_tokens, 8, bytes);
    found.writeText(columns.error_type, 9, bytes);
  }

  #writeDetails(bytes: Uint8Array, group: ResourceScope): void {
    const { starts, ends } = this.#span;
    const block = detailBlock(this.#builder);
    const { columns } = block;
    columns.organization.bytes(this.#builder.organization, 0, this.#builder.organization.length);
    columns.project.bytes(group.project, 0, group.project.length);
    columns.trace_id.hex(bytes, starts[1]!, ends[1]!);
    columns.span_id.hex(bytes, starts[2]!, ends[2]!);
    columns.start_time.copy(bytes, starts[7]!);
    this.#writer.write({ map: columns.attributes, types: columns.attribute_types }, bytes, this.#large);
    this.#writeEvents(columns, bytes);
    this.#writeLinks(columns, bytes);
    columns.dropped_attributes.unsigned(countAt(bytes, this.#span, 10));
    columns.dropped_events.unsigned(countAt(bytes, this.#span, 12));
    columns.dropped_links.unsigned(countAt(bytes, this.#span, 14));
    columns.days.unsigned(group.days);
    block.endRow();
  }

  #writeEvents(columns: DetailColumns, bytes: Uint8Array): void {
    const events = this.#span.list(11);
    const scan = this.#event;
    for (let index = 0; index < events.length; index += 1) {
      scan.read(bytes, events.start(index), events.end(index));
      const { starts, ends } = scan;
      if (starts[1] === 0) columns.event_times.items.addDefault();
      else columns.event_times.items.copy(bytes, starts[1]!);
      writeText(columns.event_names.items, bytes, starts[2]!, ends[2]!);
      const target = { map: columns.event_attributes.items, types: columns.event_attribute_types.items };
      this.#writer.write(target, bytes, scan.list(3));
      columns.event_dropped_attributes.items.unsigned(countAt(bytes, scan, 4));
    }
    columns.event_times.end();
    columns.event_names.end();
    columns.event_attributes.end();
    columns.event_attribute_types.end();
    columns.event_dropped_attributes.end();
  }

  #writeLinks(columns: DetailColumns, bytes: Uint8Array): void {
    const links = this.#span.list(13);
    const scan = this.#link;
    for (let index = 0; index < links.length; index += 1) {
      scan.read(bytes, links.start(index), links.end(index));
      const { starts, ends } = scan;
      writeIdOrNothing(columns.link_trace_ids.items, bytes, { start: starts[1]!, end: ends[1]!, size: 16 });
      writeIdOrNothing(columns.link_span_ids.items, bytes, { start: starts[2]!, end: ends[2]!, size: 8 });
      writeText(columns.link_trace_states.items, bytes, starts[3]!, ends[3]!);
      columns.link_flags.items.unsigned(starts[6] === 0 ? 0 : fixed32At(bytes, starts[6]!));
      const target = { map: columns.link_attributes.items, types: columns.link_attribute_types.items };
      this.#writer.write(target, bytes, scan.list(4));
      columns.link_dropped_attributes.items.unsigned(countAt(bytes, scan, 5));
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

/** A count of what the sender dropped; 0 when absent. */
function countAt(bytes: Uint8Array, scan: MessageScan, field: number): number {
  return scan.has(field) ? uint32At(bytes, scan.starts[field]!) : 0;
}
