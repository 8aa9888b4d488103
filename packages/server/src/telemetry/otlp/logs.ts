/** Log records as rows of `logs`. */
import { levels, logs } from "../../store/schema.ts";
import { AnyValueReader, textAt } from "./any-value.ts";
import { AttributeWriter } from "./attributes.ts";
import type { ResourceScope } from "./resource-scopes.ts";
import { Hash64 } from "./hash64.ts";
import type { ExportBuilder } from "./export-builder.ts";
import { copyOf, writeCountOf, uint32Of, writeSpanIdOf, writeTextOf, writeTraceIdOf } from "./message-fields.ts";
import { logRecord } from "./messages.ts";
import { MessageScan } from "./message-scan.ts";
import { fixed64At } from "./numbers.ts";
import { millisecondsProblem, timeProblem } from "./time-check.ts";

function logBlock(builder: ExportBuilder) {
  return builder.block(logs);
}

const field = logRecord.fields;

const levelWords: readonly (readonly [RegExp, number])[] = [
  [/^(?:trace|debug|verbose|fine)/i, levels.debug],
  [/^warn/i, levels.warning],
  [/^(?:err|fatal|crit|alert|emerg|panic|severe)/i, levels.error],
];

/** OTLP's severity as one of the four levels: by its number, else by its text, else `info`. */
export function levelOf(severityNumber: number, severityText: string): number {
  if (severityNumber >= 1 && severityNumber <= 24) {
    if (severityNumber <= 8) return levels.debug;
    if (severityNumber <= 12) return levels.info;
    return severityNumber <= 16 ? levels.warning : levels.error;
  }
  return levelWords.find(([pattern]) => pattern.test(severityText.trim()))?.[1] ?? levels.info;
}

export class LogDecoder {
  readonly #builder: ExportBuilder;
  readonly #record = new MessageScan(logRecord);
  readonly #body = new AnyValueReader();
  readonly #writer = new AttributeWriter();
  readonly #hash = new Hash64();
  readonly #kind = new Uint8Array(1);
  readonly #receivedAt = Buffer.alloc(8);
  #position = 0;

  constructor(builder: ExportBuilder) {
    this.#builder = builder;
    this.#receivedAt.writeBigUInt64LE(BigInt(Math.round(builder.nowMs * 1e6)));
  }

  count(): number {
    return 1;
  }

  add(bytes: Uint8Array, start: number, end: number, group: ResourceScope): void {
    const scan = this.#record;
    scan.read(bytes, start, end);
    this.#position += 1;
    const timeAt = this.#timeAt(bytes);
    const problem = timeAt === 0 ? millisecondsProblem(this.#builder.nowMs, group) : timeProblem(bytes, timeAt, group);
    if (problem !== undefined) {
      this.#builder.reject(problem);
      return;
    }
    const { starts, ends } = scan;
    const block = logBlock(this.#builder);
    const { columns } = block;
    columns.organization.bytes(this.#builder.organization, 0, this.#builder.organization.length);
    columns.project.bytes(group.project, 0, group.project.length);
    if (timeAt === 0) columns.time.copy(this.#receivedAt, 0);
    else columns.time.copy(bytes, timeAt);
    copyOf(columns.observed_time, bytes, scan, field.observedTimeUnixNano);
    // The request may come again, and then the record is the same one: by its bytes, its place and its groups.
    const hash = this.#hash.reset().addBytes(bytes, start, end).addBytes(group.resourceId, 0, 8);
    columns.record_id.copy(hash.addBytes(group.scopeId, 0, 8).add(this.#position, 0).finish().bytes(), 0);
    this.#writeSeverity(columns, bytes);
    columns.service.bytes(group.service, 0, group.service.length);
    writeTraceIdOf(columns.trace_id, bytes, scan, field.traceId);
    writeSpanIdOf(columns.span_id, bytes, scan, field.spanId);
    copyOf(columns.flags, bytes, scan, field.flags);
    writeTextOf(columns.event_name, bytes, scan, field.eventName);
    this.#body.read(bytes, starts[field.body]!, ends[field.body]!);
    this.#body.write(columns.body, bytes);
    this.#kind[0] = this.#body.kind;
    columns.body_type.bytes(this.#kind, 0, 1);
    columns.resource_id.copy(group.resourceId, 0);
    columns.scope_id.copy(group.scopeId, 0);
    this.#writer.write({ map: columns.attributes, types: columns.attribute_types }, bytes, scan.list(field.attributes));
    writeCountOf(columns.dropped_attributes, bytes, scan, field.droppedAttributesCount);
    columns.days.unsigned(group.days);
    block.endRow();
    this.#builder.accepted += 1;
  }

  /** The record's own time, else when it was observed, else 0: it has none. */
  #timeAt(bytes: Uint8Array): number {
    const { starts } = this.#record;
    const timeAt = starts[field.timeUnixNano]!;
    if (timeAt !== 0 && fixed64At(bytes, timeAt) !== 0) return timeAt;
    const observedAt = starts[field.observedTimeUnixNano]!;
    return observedAt !== 0 && fixed64At(bytes, observedAt) !== 0 ? observedAt : 0;
  }

  #writeSeverity(columns: ReturnType<typeof logBlock>["columns"], bytes: Uint8Array): void {
    const scan = this.#record;
    const sent = uint32Of(bytes, scan, field.severityNumber);
    const severity = sent > 255 ? 0 : sent;
    const isKnown = severity >= 1 && severity <= 24;
    columns.severity_number.unsigned(severity);
    const text = isKnown ? "" : textAt(bytes, scan.starts[field.severityText]!, scan.ends[field.severityText]!);
    columns.level.unsigned(levelOf(severity, text));
    writeTextOf(columns.severity_text, bytes, scan, field.severityText);
  }
}
