/** Reads fields of a scanned message and writes them to columns. An absent field is 0 or the column's default. */
import type { FixedColumn, StringColumn } from "../../store/column-writers.ts";
import { writeText } from "./any-value.ts";
import { writeIdOrNothing } from "./ids.ts";
import type { MessageScan } from "../../protobuf/message-scan.ts";
import { uint32At } from "../../protobuf/numbers.ts";

export function uint32Of(scan: MessageScan, field: number): number {
  const at = scan.starts[field]!;
  return at === 0 ? 0 : uint32At(scan.bytes, at);
}

/** Writes a count. */
export function writeCountOf(column: FixedColumn, scan: MessageScan, field: number): void {
  const at = scan.starts[field]!;
  if (at === 0) column.addDefault();
  else column.unsigned(uint32At(scan.bytes, at));
}

/** Writes text that should be UTF-8. */
export function writeTextOf(column: StringColumn, scan: MessageScan, field: number): void {
  writeText(column, scan.bytes, scan.starts[field]!, scan.ends[field]!);
}

/** Copies a value of fixed width, such as a time, a double or flags. */
export function copyOf(column: FixedColumn, scan: MessageScan, field: number): void {
  const at = scan.starts[field]!;
  if (at === 0) column.addDefault();
  else column.copy(scan.bytes, at);
}

/** Writes a trace ID; an invalid one counts as absent. */
export function writeTraceIdOf(column: StringColumn, scan: MessageScan, field: number): void {
  writeIdOrNothing(column, scan.bytes, { start: scan.starts[field]!, end: scan.ends[field]!, size: 16 });
}

/** Writes a span ID; an invalid one counts as absent. */
export function writeSpanIdOf(column: StringColumn, scan: MessageScan, field: number): void {
  writeIdOrNothing(column, scan.bytes, { start: scan.starts[field]!, end: scan.ends[field]!, size: 8 });
}
