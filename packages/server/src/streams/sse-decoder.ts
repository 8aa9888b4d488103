/**
 * Decodes server-sent events from bytes in pieces of any size.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 *
 * Two differences, because real servers need them: an event at the end of the stream counts even if its blank line
 * is missing, and `id` and `retry` are passed over, since nothing here reconnects.
 */
import { AppError } from "../errors.ts";

export interface SseEvent {
  /** The event's type; `message` when the stream names none. */
  readonly type: string;
  /** The `data` lines joined by line feeds. */
  readonly data: string;
}

const lineFeed = 10;
const carriageReturn = 13;
const colon = 58;
const space = 32;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Frames without data (comments, a lone `event:`, `id:` or `retry:`) are no events. */
export class SseDecoder {
  readonly #onEvent: (event: SseEvent) => void;
  readonly #onEmpty: (bytes: number) => void;
  readonly #maxEventBytes: number;
  /** Pieces of an incomplete line. */
  #partialLine: Buffer[] = [];
  /** Bytes of the current event, its unfinished line included. */
  #eventBytes = 0;
  #type = "message";
  /** The last type, and the rest of its line after the field's name. */
  #lastType = "";
  #lastTypeBytes: Buffer = Buffer.alloc(0);
  #data: string | undefined;
  #isFirstLine = true;
  /** The last byte was a carriage return: a line feed that follows belongs to it. */
  #afterCarriageReturn = false;

  /**
   * @param maxEventBytes a larger event is an error, so that a stream without line ends cannot fill the memory
   * @param onEmpty told the size of frames without data; may throw
   */
  constructor(onEvent: (event: SseEvent) => void, maxEventBytes: number, onEmpty: (bytes: number) => void = () => {}) {
    this.#onEvent = onEvent;
    this.#onEmpty = onEmpty;
    this.#maxEventBytes = maxEventBytes;
  }

  /**
   * Takes the next bytes of the stream and reports the events that they complete. The bytes are kept until their
   * line ends, so they must not be overwritten.
   * @throws AppError upstream_failed when an event is too large, and what `onEvent` and `onEmpty` throw
   */
  push(bytes: Buffer): void {
    const hasCarriageReturns = this.#afterCarriageReturn || bytes.includes(carriageReturn);
    let start = 0;
    if (this.#afterCarriageReturn && bytes.length > 0) {
      this.#afterCarriageReturn = false;
      if (bytes[0] === lineFeed) start = 1;
    }
    while (start < bytes.length) {
      const end = hasCarriageReturns ? findLineEnd(bytes, start) : bytes.indexOf(lineFeed, start);
      if (end === -1) {
        this.#keep(start === 0 ? bytes : bytes.subarray(start));
        return;
      }
      this.#count(end - start);
      this.#endLine(bytes, start, end);
      start = end + 1;
      if (bytes[end] === carriageReturn) {
        if (start === bytes.length) this.#afterCarriageReturn = true;
        else if (bytes[start] === lineFeed) start++;
      }
    }
  }

  /** The stream has ended: reports the last event if its blank line is missing. */
  end(): void {
    if (this.#partialLine.length > 0) this.#endLine(Buffer.alloc(0), 0, 0);
    this.#endEvent();
  }

  #keep(bytes: Buffer): void {
    this.#count(bytes.length);
    this.#partialLine.push(bytes);
  }

  #count(length: number): void {
    this.#eventBytes += length;
    if (this.#eventBytes > this.#maxEventBytes) {
      throw new AppError("upstream_failed", `The engine sent an event of more than ${this.#maxEventBytes} bytes.`);
    }
  }

  #endLine(bytes: Buffer, start: number, end: number): void {
    if (this.#partialLine.length > 0) {
      const line = Buffer.concat([...this.#partialLine, bytes.subarray(start, end)]);
      this.#partialLine = [];
      this.#takeLine(line, 0, line.length);
    } else {
      this.#takeLine(bytes, start, end);
    }
  }

  #takeLine(bytes: Buffer, lineStart: number, end: number): void {
    let start = lineStart;
    if (this.#isFirstLine) {
      this.#isFirstLine = false;
      if (byteOrderMark.equals(bytes.subarray(start, Math.min(start + 3, end)))) start += 3;
    }
    if (start === end) {
      this.#endEvent();
      return;
    }
    if (isField("data", bytes, start, end)) {
      const value = readValue(bytes, start + 4, end);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (isField("event", bytes, start, end)) this.#takeType(bytes, start + 5, end);
  }

  /** Most events of a stream have the type of the last one, which need not be decoded again. */
  #takeType(bytes: Buffer, start: number, end: number): void {
    if (!isSame(this.#lastTypeBytes, bytes, start, end)) {
      this.#lastTypeBytes = Buffer.from(bytes.subarray(start, end));
      this.#lastType = readValue(bytes, start, end);
    }
    this.#type = this.#lastType;
  }

  #endEvent(): void {
    const data = this.#data;
    const type = this.#type;
    // With the line feeds.
    const bytes = this.#eventBytes + 2;
    this.#data = undefined;
    this.#type = "message";
    this.#eventBytes = 0;
    if (data === undefined) this.#onEmpty(bytes);
    else this.#onEvent({ type: type === "" ? "message" : type, data });
  }
}

/** The first carriage return or line feed at or after `start`, or -1. */
function findLineEnd(bytes: Buffer, start: number): number {
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === lineFeed || byte === carriageReturn) return at;
  }
  return -1;
}

/** Whether the line is this field, with or without a value. */
function isField(name: string, bytes: Buffer, start: number, end: number): boolean {
  const nameEnd = start + name.length;
  if (nameEnd > end || (nameEnd < end && bytes[nameEnd] !== colon)) return false;
  for (let at = 0; at < name.length; at += 1) if (bytes[start + at] !== name.charCodeAt(at)) return false;
  return true;
}

function isSame(expected: Buffer, bytes: Buffer, start: number, end: number): boolean {
  if (expected.length !== end - start) return false;
  for (let at = 0; at < expected.length; at += 1) if (bytes[start + at] !== expected[at]) return false;
  return true;
}

/** The text after the colon at `at`, without one leading space; empty if the field has no colon. */
function readValue(bytes: Buffer, at: number, end: number): string {
  if (at >= end) return "";
  return bytes.toString("utf8", bytes[at + 1] === space ? at + 2 : at + 1, end);
}
