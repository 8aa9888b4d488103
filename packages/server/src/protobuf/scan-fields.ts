/** Reads single fields of a scanned protobuf message. */
import { varintEnd, type MessageScan, type RangeList } from "./message-scan.ts";
import { doubleAt, int64At } from "./numbers.ts";

export function rangesOf(list: RangeList): [start: number, end: number][] {
  return Array.from({ length: list.length }, (_, index) => [list.start(index), list.end(index)]);
}

export function textOf({ bytes, ends, starts }: MessageScan, field: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8", starts[field], ends[field]);
}

/** A varint; 0 if it is absent. */
export function numberOf({ bytes, starts }: MessageScan, field: number): number {
  return starts[field] === 0 ? 0 : int64At(bytes, starts[field]!);
}

export function doubleOf({ bytes, starts }: MessageScan, field: number): number {
  return starts[field] === 0 ? 0 : doubleAt(bytes, starts[field]!);
}

/** Packed varints. */
export function numbersOf(bytes: Buffer, list: RangeList, read: (at: number) => number): number[] {
  const numbers: number[] = [];
  for (const [start, end] of rangesOf(list)) {
    for (let at = start; at < end; at = varintEnd(bytes, at, end)) numbers.push(read(at));
  }
  return numbers;
}

export function doublesOf(bytes: Buffer, list: RangeList): number[] {
  const numbers: number[] = [];
  for (const [start, end] of rangesOf(list)) {
    for (let at = start; at + 8 <= end; at += 8) numbers.push(doubleAt(bytes, at));
  }
  return numbers;
}
