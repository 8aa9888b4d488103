/**
 * Decompresses Snappy's block format, which Loki's and Prometheus' senders use: within a limit, and yielding to other requests.
 * npm's decoders decompress a whole body at once, which blocks the server for as long as it takes.
 * https://github.com/google/snappy/blob/main/format_description.txt
 */
import { AppError } from "../errors.ts";
import { CooperativeYield, longStep } from "../scheduling/cooperative-yield.ts";
import { type BodyLimits, tooLarge } from "./collect-body.ts";

/** Bytes of output between two checks of the clock. */
const stepBytes = 262_144;

/** @throws AppError payload_too_large, invalid_request, or what the charge throws */
export async function decompressSnappy(bytes: Buffer, { charge, limitBytes }: BodyLimits): Promise<Buffer> {
  const { at, length } = readLength(bytes);
  if (length > limitBytes) throw tooLarge(limitBytes);
  charge.add(length);
  const decoder = new SnappyDecoder(bytes, at, length);
  const yielder = new CooperativeYield();
  while (!decoder.advance(stepBytes)) if (yielder.isDue(longStep)) await yielder.yield();
  return decoder.output;
}

/** The length of the output, which precedes the compressed data. */
function readLength(bytes: Buffer): { readonly at: number; readonly length: number } {
  let length = 0;
  for (let at = 0; at < Math.min(5, bytes.length); at += 1) {
    const byte = bytes[at]!;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return { at: at + 1, length };
  }
  throw invalid("its length is missing");
}

class SnappyDecoder {
  readonly output: Buffer;
  readonly #input: Buffer;
  #at: number;
  #length = 0;

  constructor(input: Buffer, at: number, outputLength: number) {
    this.#input = input;
    this.#at = at;
    this.output = Buffer.allocUnsafe(outputLength);
  }

  /** Decompresses at least this many bytes; true at the end of the input. */
  advance(outputBytes: number): boolean {
    const stop = this.#length + outputBytes;
    while (this.#at < this.#input.length) {
      if (this.#length >= stop) return false;
      const tag = this.#input[this.#at++]!;
      if ((tag & 3) === 0) this.#literal(tag >>> 2);
      else this.#copy(tag);
    }
    if (this.#length < this.output.length) throw invalid("it ends before the length that it declares");
    return true;
  }

  /** A length of up to 60, or the number of bytes, less 59, that hold it. */
  #literal(code: number): void {
    const length = (code < 60 ? code : this.#uint(code - 59)) + 1;
    if (this.#at + length > this.#input.length) throw invalid("it is truncated");
    this.#require(length);
    this.#input.copy(this.output, this.#length, this.#at, this.#at + length);
    this.#at += length;
    this.#length += length;
  }

  /** Bytes that the output already has; where they overlap their copy, they repeat. */
  #copy(tag: number): void {
    const kind = tag & 3;
    const length = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const offset = kind === 1 ? ((tag >>> 5) << 8) | this.#uint(1) : this.#uint(kind === 2 ? 2 : 4);
    if (offset === 0 || offset > this.#length) throw invalid("it refers to data before its beginning");
    this.#require(length);
    const { output } = this;
    const from = this.#length - offset;
    if (offset >= length) output.copyWithin(this.#length, from, from + length);
    else for (let index = 0; index < length; index += 1) output[this.#length + index] = output[from + index]!;
    this.#length += length;
  }

  #uint(bytes: number): number {
    if (this.#at + bytes > this.#input.length) throw invalid("it is truncated");
    const value = this.#input.readUIntLE(this.#at, bytes);
    this.#at += bytes;
    return value;
  }

  #require(bytes: number): void {
    if (this.#length + bytes > this.output.length) throw invalid("it is longer than the length that it declares");
  }
}

function invalid(problem: string): AppError {
  return new AppError("invalid_request", `The body is not valid Snappy: ${problem}.`);
}
