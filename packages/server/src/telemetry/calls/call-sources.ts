/** Adapts spans and log records of Sounding's own calls to the row writers. */
import { randomFillSync } from "node:crypto";
import type { FixedColumn, MapColumn, StringColumn } from "../../store/column-writers.ts";
import { attributeKinds } from "../../store/attribute-kinds.ts";
import { namedCost } from "../../pricing/reported-costs.ts";
import { spanAttributeNames } from "../rows/known-attributes.ts";
import type { LogSource } from "../rows/log-rows.ts";
import type { CallKeyColumns, SpanDetailColumns, SpanSource } from "../rows/span-rows.ts";
import { responseKey, spanKeyOfHex } from "../rows/call-keys.ts";
import { genAi } from "./attribute-names.ts";
import type { CallAttributeWriter } from "./call-attribute-writer.ts";
import { SealedText, spanKinds, type CallLog, type CallSpan } from "./call-record-types.ts";

/** OTLP's StatusCode. */
const statusCodes = { unset: 0, error: 2 } as const;

/** One source serves many spans, one after the other. */
export class CallSpanSource implements SpanSource {
  current!: CallSpan;
  hasDetails = false;
  readonly currency: string;
  readonly #attributes: CallAttributeWriter;

  constructor(attributes: CallAttributeWriter, currency: string) {
    this.#attributes = attributes;
    this.currency = currency;
  }

  get kind(): number {
    return spanKinds[this.current.kind];
  }

  writeTraceId(column: StringColumn): void {
    column.text(this.current.traceId);
  }

  writeSpanId(column: StringColumn): void {
    column.text(this.current.spanId);
  }

  writeParentSpanId(column: StringColumn): void {
    column.text(this.current.parentSpanId);
  }

  writeTraceState(column: StringColumn): void {
    column.text(this.current.traceState);
  }

  writeFlags(column: FixedColumn): void {
    column.unsigned(this.current.flags);
  }

  writeName(column: StringColumn): void {
    column.text(this.current.name);
  }

  writeStartTime(column: FixedColumn): void {
    column.bigint(this.current.startUnixNano);
  }

  writeEndTime(column: FixedColumn): void {
    column.bigint(this.current.endUnixNano);
  }

  writeStatus(code: FixedColumn, message: StringColumn): void {
    const { error } = this.current;
    code.unsigned(error === undefined ? statusCodes.unset : statusCodes.error);
    message.text(error ?? "");
  }

  writeAttributes(map: MapColumn, types: StringColumn): void {
    this.hasDetails = this.#attributes.writeSmall({ map, types }, this.current.attributes);
  }

  writeKnownText(column: StringColumn, attribute: number): void {
    const value = this.current.attributes[spanAttributeNames[attribute]!];
    column.text(typeof value === "string" ? value : "");
  }

  writeKnownCount(column: FixedColumn, attribute: number): void {
    const value = this.current.attributes[spanAttributeNames[attribute]!];
    column.unsigned(typeof value === "number" ? value : 0);
  }

  get costBillionths(): number | undefined {
    const cost = this.current.attributes[genAi.cost];
    return typeof cost === "number" ? namedCost(cost) : undefined;
  }

  /** A call's span; those of its attempts do not count. */
  get isServed(): boolean {
    return this.current.attributes[genAi.operation] !== undefined;
  }

  writeCallKeys(columns: CallKeyColumns): void {
    const { attributes, parentSpanId, traceId } = this.current;
    const id = attributes[genAi.responseId];
    const hasParent = this.isServed && parentSpanId !== "";
    columns.repeated.addDefault();
    columns.response_key.bigint((this.isServed && typeof id === "string" ? responseKey(id) : undefined) ?? 0n);
    columns.request_key.bigint(hasParent ? spanKeyOfHex(traceId, parentSpanId) : 0n);
  }

  writeDetails(columns: SpanDetailColumns): void {
    this.#attributes.writeLarge({ map: columns.attributes, types: columns.attribute_types }, this.current.attributes);
  }
}

/** OTLP's SeverityNumber and the usual text for it. */
const severities = {
  info: { number: 9, text: "INFO" },
  warning: { number: 13, text: "WARN" },
  error: { number: 17, text: "ERROR" },
} as const;

/** One source serves many log records, one after the other. */
export class CallLogSource implements LogSource {
  current!: CallLog;
  readonly #attributes: CallAttributeWriter;
  readonly #recordId = Buffer.alloc(8);

  constructor(attributes: CallAttributeWriter) {
    this.#attributes = attributes;
  }

  get severityNumber(): number {
    return severities[this.current.level].number;
  }

  readSeverityText(): string {
    return severities[this.current.level].text;
  }

  writeSeverityText(column: StringColumn): void {
    column.text(severities[this.current.level].text);
  }

  writeTime(column: FixedColumn): void {
    column.bigint(this.current.unixNano);
  }

  writeObservedTime(column: FixedColumn): void {
    column.bigint(this.current.unixNano);
  }

  writeRecordId(column: FixedColumn): void {
    column.copy(this.current.recordId ?? randomFillSync(this.#recordId), 0);
  }

  writeTraceId(column: StringColumn): void {
    column.text(this.current.traceId);
  }

  writeSpanId(column: StringColumn): void {
    column.text(this.current.spanId);
  }

  writeFlags(column: FixedColumn): void {
    column.addDefault();
  }

  writeEventName(column: StringColumn): void {
    column.text(this.current.eventName);
  }

  writeBody(column: StringColumn, type: StringColumn): void {
    const { body } = this.current;
    const isSealed = body instanceof SealedText;
    column.text(isSealed ? body.text : body);
    type.text(isSealed ? attributeKinds.encrypted : attributeKinds.string);
  }

  writeAttributes(map: MapColumn, types: StringColumn): void {
    this.#attributes.write({ map, types }, this.current.attributes);
  }

  writeDroppedAttributes(column: FixedColumn): void {
    column.addDefault();
  }
}
