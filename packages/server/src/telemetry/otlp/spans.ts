/** Decodes OTLP spans. https://opentelemetry.io/docs/specs/otel/trace/api/#span */
import type { FixedColumn, MapColumn, StringColumn } from "../../store/column-writers.ts";
import { largeAttributeBytes } from "../../store/schema.ts";
import { namedCost } from "../../pricing/reported-costs.ts";
import type { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { spanAttributePositions as position } from "../rows/known-attributes.ts";
import { type CallKeyColumns, type SpanDetailColumns, type SpanSource, writeSpan } from "../rows/span-rows.ts";
import { AttributeFinder } from "./attribute-finder.ts";
import { AttributeReader, AttributeWriter } from "./attributes.ts";
import { CallSpanScan, knownSpanAttributes, meaningOfSpan, noteRequest } from "./call-span-scan.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { isId } from "./ids.ts";
import { copyOf, uint32Of, writeCountOf, writeSpanIdOf, writeTextOf, writeTraceIdOf } from "./message-fields.ts";
import { MessageScan, RangeList } from "../../protobuf/message-scan.ts";
import { fixed64At } from "../../protobuf/numbers.ts";
import { span, spanParts } from "../../protobuf/otlp-messages.ts";
import type { ResourceScope } from "./resource-scopes.ts";
import type { SpanMeaning } from "./span-meaning.ts";
import { timeProblem } from "./time-check.ts";

const field = span.fields;
const statusField = spanParts.status.fields;
const eventField = spanParts.event.fields;
const linkField = spanParts.link.fields;

const unspecified = 0;
const highestKind = 5;
const highestStatus = 2;
const nanosPerMs = 1e6;

export class SpanDecoder {
  readonly #builder: ExportBuilder;
  readonly #calls: CallSpanScan;
  readonly #span: OtlpSpanSource;

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
    this.#calls = new CallSpanScan(builder);
    this.#span = new OtlpSpanSource(builder, this.#calls);
  }

  async prepare(bytes: Uint8Array, yielder: CooperativeYield): Promise<void> {
    await this.#calls.prepare(bytes, yielder);
  }

  count(): number {
    return 1;
  }

  add(bytes: Uint8Array, start: number, end: number, group: ResourceScope): void {
    this.#span.read(bytes, start, end);
    const problem = this.#span.problem(group);
    if (problem === undefined) {
      writeSpan(this.#builder, this.#span, group);
      this.#builder.accepted += 1;
    } else this.#builder.reject(problem);
  }
}

/** The span that was read last. One source serves many spans, one after the other. */
class OtlpSpanSource implements SpanSource {
  /** Senders cannot claim that this server served a call. */
  readonly isServed = false;
  readonly #builder: ExportBuilder;
  readonly #calls: CallSpanScan;
  readonly #scan = new MessageScan(span);
  readonly #status = new MessageScan(spanParts.status);
  readonly #event = new MessageScan(spanParts.event);
  readonly #link = new MessageScan(spanParts.link);
  readonly #reader = new AttributeReader();
  readonly #writer: AttributeWriter;
  readonly #known = new AttributeFinder(knownSpanAttributes);
  readonly #large = new RangeList();
  #meaning: SpanMeaning | undefined;

  constructor(builder: ExportBuilder, calls: CallSpanScan) {
    this.#builder = builder;
    this.#calls = calls;
    this.#writer = new AttributeWriter(builder);
  }

  read(bytes: Uint8Array, start: number, end: number): void {
    this.#scan.read(bytes, start, end);
  }

  /** Why the span cannot be stored, as the end of "1 span …". */
  problem(group: ResourceScope): string | undefined {
    const { bytes, starts, ends } = this.#scan;
    const { traceId, spanId, startTimeUnixNano } = field;
    if (!isId(bytes, starts[traceId]!, ends[traceId]!, 16)) return "without a valid trace ID (16 bytes, not all zero)";
    if (!isId(bytes, starts[spanId]!, ends[spanId]!, 8)) return "without a valid span ID (8 bytes, not all zero)";
    if (starts[startTimeUnixNano] === 0) return "without a start time";
    return timeProblem(bytes, starts[startTimeUnixNano]!, group);
  }

  get kind(): number {
    const kind = uint32Of(this.#scan, field.kind);
    return kind > highestKind ? unspecified : kind;
  }

  get hasDetails(): boolean {
    const scan = this.#scan;
    return (
      this.#large.length > 0 ||
      scan.has(field.events) ||
      scan.has(field.links) ||
      uint32Of(scan, field.droppedAttributesCount) > 0 ||
      uint32Of(scan, field.droppedEventsCount) > 0 ||
      uint32Of(scan, field.droppedLinksCount) > 0
    );
  }

  writeTraceId(column: StringColumn): void {
    const { bytes, starts, ends } = this.#scan;
    column.hex(bytes, starts[field.traceId]!, ends[field.traceId]!);
  }

  writeSpanId(column: StringColumn): void {
    const { bytes, starts, ends } = this.#scan;
    column.hex(bytes, starts[field.spanId]!, ends[field.spanId]!);
  }

  writeParentSpanId(column: StringColumn): void {
    writeSpanIdOf(column, this.#scan, field.parentSpanId);
  }

  writeTraceState(column: StringColumn): void {
    writeTextOf(column, this.#scan, field.traceState);
  }

  writeFlags(column: FixedColumn): void {
    copyOf(column, this.#scan, field.flags);
  }

  writeName(column: StringColumn): void {
    writeTextOf(column, this.#scan, field.name);
  }

  writeStartTime(column: FixedColumn): void {
    copyOf(column, this.#scan, field.startTimeUnixNano);
  }

  writeEndTime(column: FixedColumn): void {
    copyOf(column, this.#scan, field.endTimeUnixNano);
  }

  writeStatus(code: FixedColumn, message: StringColumn): void {
    const start = this.#scan.starts[field.status]!;
    if (start === 0) {
      code.addDefault();
      message.addDefault();
      return;
    }
    const status = this.#status;
    status.read(this.#scan.bytes, start, this.#scan.ends[field.status]!);
    const sent = uint32Of(status, statusField.code);
    code.unsigned(sent > highestStatus ? unspecified : sent);
    writeTextOf(message, status, statusField.message);
  }

  writeAttributes(map: MapColumn, types: StringColumn): void {
    const bytes = this.#scan.bytes;
    const list = this.#scan.list(field.attributes);
    const known = this.#known;
    const reader = this.#reader;
    const large = this.#large;
    known.reset();
    large.clear();
    for (let index = 0; index < list.length; index += 1) {
      reader.read(bytes, list.start(index), list.end(index));
      known.note(bytes, reader);
      if (reader.valueEnd - reader.valueStart > largeAttributeBytes) large.add(list.start(index), list.end(index));
      else this.#writer.add(map, bytes, reader);
    }
    this.#writer.end(map, types);
    noteRequest(this.#scan, known, this.#builder);
    this.#meaning = meaningOfSpan(this.#scan, known);
  }

  writeKnownText(column: StringColumn, attribute: number): void {
    const derived = this.#derived(attribute);
    if (derived === undefined) this.#known.writeText(column, attribute, this.#scan.bytes);
    else column.text(derived);
  }

  #derived(attribute: number): string | undefined {
    const meaning = this.#meaning;
    if (meaning === undefined) return undefined;
    if (attribute === position.operation) return meaning.operation;
    if (attribute === position.agent_name) return meaning.agentName;
    return attribute === position.request_model ? meaning.requestModel : undefined;
  }

  writeCallKeys(columns: CallKeyColumns): void {
    const keys = this.#calls.keysOf(this.#scan);
    columns.repeated.unsigned(keys?.isRepeated === true ? 1 : 0);
    columns.response_key.bigint(keys?.response ?? 0n);
    columns.request_key.bigint(keys?.request ?? 0n);
  }

  writeKnownCount(column: FixedColumn, attribute: number): void {
    this.#known.writeCount(column, attribute, this.#scan.bytes);
  }

  /** As the sender says, else by the prices of the model. */
  get costBillionths(): number | undefined {
    const known = this.#known;
    const { bytes, starts } = this.#scan;
    const named = namedCost(known.number(position.cost, bytes));
    if (named !== undefined || this.#meaning?.isInference !== true) return named;
    const model = {
      provider: known.text(position.provider, bytes),
      models: [
        this.#meaning.requestModel ?? known.text(position.request_model, bytes),
        known.text(position.response_model, bytes),
      ],
    };
    const tokens = {
      inputTokens: known.count(position.input_tokens, bytes),
      outputTokens: known.count(position.output_tokens, bytes),
      cacheReadTokens: known.count(position.cache_read_tokens, bytes),
      cacheWriteTokens: known.count(position.cache_write_tokens, bytes),
    };
    const { costs, payer } = this.#builder;
    return costs.of(payer, model, tokens, fixed64At(bytes, starts[field.startTimeUnixNano]!) / nanosPerMs);
  }

  get currency(): string {
    return this.#builder.costs.currency;
  }

  writeDetails(columns: SpanDetailColumns): void {
    const scan = this.#scan;
    this.#writer.write({ map: columns.attributes, types: columns.attribute_types }, scan.bytes, this.#large);
    this.#writeEvents(columns);
    this.#writeLinks(columns);
    writeCountOf(columns.dropped_attributes, scan, field.droppedAttributesCount);
    writeCountOf(columns.dropped_events, scan, field.droppedEventsCount);
    writeCountOf(columns.dropped_links, scan, field.droppedLinksCount);
  }

  #writeEvents(columns: SpanDetailColumns): void {
    const bytes = this.#scan.bytes;
    const events = this.#scan.list(field.events);
    const scan = this.#event;
    const attributes = { map: columns.event_attributes.items, types: columns.event_attribute_types.items };
    for (let index = 0; index < events.length; index += 1) {
      scan.read(bytes, events.start(index), events.end(index));
      copyOf(columns.event_times.items, scan, eventField.timeUnixNano);
      writeTextOf(columns.event_names.items, scan, eventField.name);
      this.#writer.write(attributes, bytes, scan.list(eventField.attributes));
      writeCountOf(columns.event_dropped_attributes.items, scan, eventField.droppedAttributesCount);
    }
    columns.event_times.end();
    columns.event_names.end();
    columns.event_attributes.end();
    columns.event_attribute_types.end();
    columns.event_dropped_attributes.end();
  }

  #writeLinks(columns: SpanDetailColumns): void {
    const bytes = this.#scan.bytes;
    const links = this.#scan.list(field.links);
    const scan = this.#link;
    const attributes = { map: columns.link_attributes.items, types: columns.link_attribute_types.items };
    for (let index = 0; index < links.length; index += 1) {
      scan.read(bytes, links.start(index), links.end(index));
      writeTraceIdOf(columns.link_trace_ids.items, scan, linkField.traceId);
      writeSpanIdOf(columns.link_span_ids.items, scan, linkField.spanId);
      writeTextOf(columns.link_trace_states.items, scan, linkField.traceState);
      copyOf(columns.link_flags.items, scan, linkField.flags);
      this.#writer.write(attributes, bytes, scan.list(linkField.attributes));
      writeCountOf(columns.link_dropped_attributes.items, scan, linkField.droppedAttributesCount);
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
