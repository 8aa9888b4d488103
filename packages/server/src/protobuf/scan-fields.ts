/** Reads single fields of a scanned protobuf message. */
import { varintEnd, type MessageScan, type RangeList } from "./message-scan.ts";
import { doubleAt, int64At } from "./numbers.ts";

export function* rangesOf(list: RangeList): Generator<[start: number, end: number]> {
  for (let index = 0; index < list.length; index += 1) yield [list.start(index), list.end(index)];
}

/** Values that are read while they are iterated, again each time. */
export interface ReadValues<Value> extends Iterable<Value> {
  readonly length: number;
}

/** The messages of a list. Iterate them before the scan that the list belongs to reads another message. */
export function messagesOf<Value>(list: RangeList, read: (start: number, end: number) => Value): ReadValues<Value> {
  return {
    get length() {
      return list.length;
    },
    *[Symbol.iterator]() {
      for (const [start, end] of rangesOf(list)) yield read(start, end);
    },
  };
}

/** A text, or its first `limitBytes`. */
export function textOf({ bytes, ends, starts }: MessageScan, field: number, limitBytes = Infinity): string {
  const [start, end] = [starts[field]!, ends[field]!];
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(
    "utf8",
    start,
    Math.min(end, start + limitBytes),
  );
}

/** A varint; 0 if it is absent. */
export function numberOf({ bytes, starts }: MessageScan, field: number): number {
  return starts[field] === 0 ? 0 : int64At(bytes, starts[field]!);
}

export function doubleOf({ bytes, starts }: MessageScan, field: number): number {
  return starts[field] === 0 ? 0 : doubleAt(bytes, starts[field]!);
}

/** Packed varints, at most `limit` of them: a few bytes are many numbers. */
export function numbersOf(bytes: Buffer, list: RangeList, { limit, read }: NumberReading): number[] {
  const numbers: number[] = [];
  for (const [start, end] of rangesOf(list)) {
    for (let at = start; at < end; at = varintEnd(bytes, at, end)) {
      if (numbers.length === limit) return numbers;
      numbers.push(read(at));
    }
  }
  return numbers;
}

export interface NumberReading {
  readonly limit: number;
  readonly read: (at: number) => number;
}

/** Packed doubles, at most `limit` of them. */
export function doublesOf(bytes: Buffer, list: RangeList, limit: number): number[] {
  const numbers: number[] = [];
  for (const [start, end] of rangesOf(list)) {
    for (let at = start; at + 8 <= end; at += 8) {
      if (numbers.length === limit) return numbers;
      numbers.push(doubleAt(bytes, at));
    }
  }
  return numbers;
}
