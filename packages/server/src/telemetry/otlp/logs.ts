/** Decodes OTLP log records. https://opentelemetry.io/docs/specs/otel/logs/data-model/ */
import type { FixedColumn, MapColumn, StringColumn } from "../../store/column-writers.ts";
import { type LogSource, writeLog } from "../rows/log-rows.ts";
import { contentEventPrefix, contentOfEvents, isContentName } from "../../store/content-attributes.ts";
import type { SealContent } from "../rows/seal-content.ts";
import { AnyValueReader, textAt } from "./any-value.ts";
import { isAt } from "./attribute-finder.ts";
import { AttributeWriter } from "./attributes.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { kindCodes } from "../rows/attribute-kinds.ts";
import { Hash64 } from "../rows/hash64.ts";
import { copyOf, uint32Of, writeCountOf, writeSpanIdOf, writeTextOf, writeTraceIdOf } from "./message-fields.ts";
import { MessageScan } from "../../protobuf/message-scan.ts";
import { logRecord } from "../../protobuf/otlp-messages.ts";
import { fixed64At } from "../../protobuf/numbers.ts";
import { ArrivalOrder, mostOrdered } from "./arrival-order.ts";
import type { ResourceScope } from "./resource-scopes.ts";
import { millisecondsProblem, timeProblem } from "./time-check.ts";

const field = logRecord.fields;

/** Larger severity numbers do not fit into the column; they count as absent. */
const highestSeverity = 255;

export class LogDecoder {
  readonly #builder: ExportBuilder;
  readonly #log: OtlpLogSource;

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
    this.#log = new OtlpLogSource(builder);
  }

  count(): number {
    return 1;
  }

  add(bytes: Uint8Array, start: number, end: number, group: ResourceScope): void {
    this.#log.read(bytes, { start, end, group });
    const problem = this.#log.problem(group);
    if (problem === undefined) {
      writeLog(this.#builder, this.#log, group);
      this.#builder.accepted += 1;
    } else this.#builder.reject(problem);
  }
}

const eventPrefix = Buffer.from(contentEventPrefix);
const contentName = Buffer.from(contentOfEvents);

function isContentOfEvent(bytes: Uint8Array, start: number, end: number): boolean {
  return isContentName(bytes, start, end) || (end - start === contentName.length && isAt(bytes, start, contentName));
}

/** The record that was read last. One source serves the records of one request, one after the other. */
class OtlpLogSource implements LogSource {
  readonly #scan = new MessageScan(logRecord);
  readonly #body = new AnyValueReader();
  readonly #bodyKind = new Uint8Array(1);
  readonly #writer: AttributeWriter;
  readonly #seal: SealContent | undefined;
  readonly #recordId = new Hash64();
  readonly #order = new ArrivalOrder();
  readonly #nowMs: number;
  readonly #receivedAt = Buffer.alloc(8);
  /** Of the record in the request. */
  #position = 0;
  /** Where the record's time is; 0 if it has none. */
  #timeAt = 0;
  /** Whether the body is content that is encrypted. */
  #isContentEvent = false;

  constructor(builder: ExportBuilder) {
    const { nowMs, seal } = builder;
    this.#nowMs = nowMs;
    this.#seal = seal;
    this.#writer = new AttributeWriter(builder);
    this.#receivedAt.writeBigUInt64LE(BigInt(Math.round(nowMs * 1e6)));
  }

  read(
    bytes: Uint8Array,
    { start, end, group }: { readonly start: number; readonly end: number; readonly group: ResourceScope },
  ): void {
    this.#scan.read(bytes, start, end);
    this.#position += 1;
    this.#timeAt = this.#findTime();
    this.#isContentEvent = this.#seal !== undefined && this.#hasContent();
    this.#writer.isContent = this.#isContentEvent ? isContentOfEvent : isContentName;
    // When a client sends the record again, also in another request, it keeps its ID: its bytes, resource, scope and the number
    // of records before it at the same time are the same.
    const ordinal = this.#order.next({ bytes, timeAt: this.#timeAt, position: this.#position, group });
    const id = this.#recordId.reset().addBytes(bytes, start, end).addBytes(group.resourceId, 0, 8);
    id.addBytes(group.scopeId, 0, 8).add(ordinal, 0).finish();
    // IDs are the order of records with equal times.
    id.high = (Math.min(ordinal, mostOrdered) << 16) | (id.high & 0xffff);
  }

  /** Why the record cannot be stored, as the end of "1 log record …". */
  problem(group: ResourceScope): string | undefined {
    return this.#timeAt === 0
      ? millisecondsProblem(this.#nowMs, group)
      : timeProblem(this.#scan.bytes, this.#timeAt, group);
  }

  #hasContent(): boolean {
    const { bytes, ends, starts } = this.#scan;
    const start = starts[field.eventName]!;
    return ends[field.eventName]! - start >= eventPrefix.length && isAt(bytes, start, eventPrefix);
  }

  /** The record's own time, or else when it was observed. */
  #findTime(): number {
    const { bytes, starts } = this.#scan;
    const timeAt = starts[field.timeUnixNano]!;
    if (timeAt !== 0 && fixed64At(bytes, timeAt) !== 0) return timeAt;
    const observedAt = starts[field.observedTimeUnixNano]!;
    return observedAt !== 0 && fixed64At(bytes, observedAt) !== 0 ? observedAt : 0;
  }

  get severityNumber(): number {
    const sent = uint32Of(this.#scan, field.severityNumber);
    return sent > highestSeverity ? 0 : sent;
  }

  readSeverityText(): string {
    const { bytes, starts, ends } = this.#scan;
    return textAt(bytes, starts[field.severityText]!, ends[field.severityText]!);
  }

  writeSeverityText(column: StringColumn): void {
    writeTextOf(column, this.#scan, field.severityText);
  }

  writeTime(column: FixedColumn): void {
    if (this.#timeAt === 0) column.copy(this.#receivedAt, 0);
    else column.copy(this.#scan.bytes, this.#timeAt);
  }

  writeObservedTime(column: FixedColumn): void {
    copyOf(column, this.#scan, field.observedTimeUnixNano);
  }

  writeRecordId(column: FixedColumn): void {
    column.copy(this.#recordId.bytes(), 0);
  }

  writeTraceId(column: StringColumn): void {
    writeTraceIdOf(column, this.#scan, field.traceId);
  }

  writeSpanId(column: StringColumn): void {
    writeSpanIdOf(column, this.#scan, field.spanId);
  }

  writeFlags(column: FixedColumn): void {
    copyOf(column, this.#scan, field.flags);
  }

  writeEventName(column: StringColumn): void {
    writeTextOf(column, this.#scan, field.eventName);
  }

  writeBody(column: StringColumn, type: StringColumn): void {
    const { bytes, starts, ends } = this.#scan;
    this.#body.read(bytes, starts[field.body]!, ends[field.body]!);
    const sealed = this.#isContentEvent ? this.#body.sealed(bytes, this.#seal!) : undefined;
    if (sealed === undefined) this.#body.write(column, bytes);
    else column.text(sealed);
    this.#bodyKind[0] = sealed === undefined ? this.#body.kind : kindCodes.encrypted;
    type.bytes(this.#bodyKind, 0, 1);
  }

  writeAttributes(map: MapColumn, types: StringColumn): void {
    this.#writer.write({ map, types }, this.#scan.bytes, this.#scan.list(field.attributes));
  }

  writeDroppedAttributes(column: FixedColumn): void {
    writeCountOf(column, this.#scan, field.droppedAttributesCount);
  }
}
