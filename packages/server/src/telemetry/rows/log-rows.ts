/** Writes the rows of log records, which come from OTLP requests or from Sounding's own calls. */
import type { ColumnWriters } from "../../store/block.ts";
import type { FixedColumn, MapColumn, StringColumn } from "../../store/column-writers.ts";
import { levels, logs } from "../../store/schema.ts";
import type { RecordGroup } from "./record-group.ts";
import type { RowBuilder } from "./row-builder.ts";

/** A log record as its source has it. Each method writes exactly one value to each column that it is given. */
export interface LogSource {
  writeTime(column: FixedColumn): void;
  writeObservedTime(column: FixedColumn): void;
  /** Differs between records, and is the same when the record is sent again. */
  writeRecordId(column: FixedColumn): void;
  /** OTLP's SeverityNumber; 0 if the sender did not say. */
  readonly severityNumber: number;
  readSeverityText(): string;
  writeSeverityText(column: StringColumn): void;
  writeTraceId(column: StringColumn): void;
  writeSpanId(column: StringColumn): void;
  writeFlags(column: FixedColumn): void;
  writeEventName(column: StringColumn): void;
  /** @param type gets the letter of the body's kind */
  writeBody(column: StringColumn, type: StringColumn): void;
  writeAttributes(map: MapColumn, types: StringColumn): void;
  writeDroppedAttributes(column: FixedColumn): void;
}

export function writeLog(builder: RowBuilder, log: LogSource, group: RecordGroup): void {
  const block = builder.block(logs);
  const { columns } = block;
  columns.organization.bytes(builder.organization, 0, builder.organization.length);
  columns.project.bytes(group.project, 0, group.project.length);
  log.writeTime(columns.time);
  log.writeObservedTime(columns.observed_time);
  log.writeRecordId(columns.record_id);
  const { severityNumber } = log;
  columns.level.unsigned(levelOfNumber(severityNumber) ?? levelOfText(log.readSeverityText()));
  columns.severity_number.unsigned(severityNumber);
  log.writeSeverityText(columns.severity_text);
  columns.service.bytes(group.service, 0, group.service.length);
  columns.resource_id.copy(group.resourceId, 0);
  columns.scope_id.copy(group.scopeId, 0);
  writeContent(columns, log);
  columns.days.unsigned(group.days);
  block.endRow();
}

/** Separate from `writeLog` because V8 limits how much code it inlines into one function. */
function writeContent(columns: ColumnWriters<typeof logs.columns>, log: LogSource): void {
  log.writeTraceId(columns.trace_id);
  log.writeSpanId(columns.span_id);
  log.writeFlags(columns.flags);
  log.writeEventName(columns.event_name);
  log.writeBody(columns.body, columns.body_type);
  log.writeAttributes(columns.attributes, columns.attribute_types);
  log.writeDroppedAttributes(columns.dropped_attributes);
}

/** OTLP's severity number as one of the four levels; undefined if it is not one of 1 to 24. */
function levelOfNumber(severityNumber: number): number | undefined {
  if (severityNumber < 1 || severityNumber > 24) return undefined;
  if (severityNumber <= 8) return levels.debug;
  if (severityNumber <= 12) return levels.info;
  return severityNumber <= 16 ? levels.warning : levels.error;
}

const levelWords: readonly (readonly [RegExp, number])[] = [
  [/^(?:trace|debug|verbose|fine)/i, levels.debug],
  [/^warn/i, levels.warning],
  [/^(?:err|fatal|crit|alert|emerg|panic|severe)/i, levels.error],
];

function levelOfText(severityText: string): number {
  return levelWords.find(([pattern]) => pattern.test(severityText.trim()))?.[1] ?? levels.info;
}
