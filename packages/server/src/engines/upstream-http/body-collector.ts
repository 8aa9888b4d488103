/** Buffers a response body up to a limit. */
import { AppError } from "../../errors.ts";
import { harmlessJsonLength, JsonValueCount, maxResponseValues } from "./json-value-count.ts";
import type { ResponseHeaders } from "./response-reader.ts";

export class BodyCollector {
  readonly maxBytes: number;
  readonly #pieces: Buffer[] = [];
  #values: JsonValueCount | undefined;
  #byteLength = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /**
   * @returns false when the limit is passed; the bytes beyond it are thrown away
   * @throws AppError upstream_failed when these are too many values to parse, or nested too deeply
   */
  push(bytes: Buffer): boolean {
    this.#countValues(bytes);
    const room = this.maxBytes - this.#byteLength;
    this.#pieces.push(bytes.length > room ? bytes.subarray(0, room) : bytes);
    this.#byteLength += Math.min(room, bytes.length);
    return bytes.length <= room;
  }

  #countValues(bytes: Buffer): void {
    if (this.#values === undefined) {
      if (this.#byteLength + bytes.length <= harmlessJsonLength) return;
      this.#values = new JsonValueCount(maxResponseValues);
      for (const piece of this.#pieces) this.#values.push(piece);
    }
    this.#values.push(bytes);
  }

  get text(): string {
    const [first] = this.#pieces;
    const whole = this.#pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.#pieces);
    return whole.toString("utf8");
  }
}

/** Requests do not accept compression, so a compressed response is refused rather than misread. */
export function refuseCompressed(headers: ResponseHeaders): void {
  const encoding = headers["content-encoding"];
  if (encoding === undefined || encoding === "identity" || encoding === "") return;
  throw new AppError("upstream_failed", "The engine compressed its response although that was not requested.");
}
