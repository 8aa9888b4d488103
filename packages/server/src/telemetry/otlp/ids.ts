/** Validates and writes trace and span IDs, which have a fixed size and are not all zero. https://www.w3.org/TR/trace-context/#trace-id */
import type { StringColumn } from "../../store/column-writers.ts";

export function isId(bytes: Uint8Array, start: number, end: number, size: 8 | 16): boolean {
  if (end - start !== size) return false;
  for (let index = start; index < end; index += 1) if (bytes[index] !== 0) return true;
  return false;
}

/** Writes an optional ID; an invalid one counts as absent. */
export function writeIdOrNothing(
  column: StringColumn,
  bytes: Uint8Array,
  { start, end, size }: { readonly start: number; readonly end: number; readonly size: 8 | 16 },
): void {
  if (isId(bytes, start, end, size)) column.hex(bytes, start, end);
  else column.addDefault();
}
