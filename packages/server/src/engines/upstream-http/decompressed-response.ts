/** Decompresses a response that an engine compressed although that was not requested, at the pace of its reader. */
import { createBrotliDecompress, createGunzip, createInflate, type Gunzip } from "node:zlib";
import { AppError, toAppError } from "../../errors.ts";
import type { ResponseHeaders, ResponseReader } from "./response-reader.ts";

const decoders: Readonly<Record<string, () => Gunzip>> = {
  gzip: () => createGunzip(),
  "x-gzip": () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** What the network's side of a response can do. */
interface Source {
  pause(): void;
  resume(): void;
  /** Everything has been read. */
  end(): void;
  /** Ends the request with an error for the reader. */
  fail(error: AppError): void;
}

/** Whether the response is compressed in a way that is known here. */
export function isCompressed(headers: ResponseHeaders): boolean {
  return Object.hasOwn(decoders, encodingOf(headers));
}

function encodingOf({ "content-encoding": encoding }: ResponseHeaders): string {
  return typeof encoding === "string" ? encoding.trim().toLowerCase() : "";
}

/** Decompresses the response; undefined if it is not compressed. */
export function decoderOf(headers: ResponseHeaders): Gunzip | undefined {
  return isCompressed(headers) ? decoders[encodingOf(headers)]!() : undefined;
}

export class DecompressedResponse {
  readonly #reader: ResponseReader;
  readonly #source: Source;
  readonly #decoder: Gunzip;
  #isOver = false;

  constructor(headers: ResponseHeaders, reader: ResponseReader, source: Source) {
    this.#reader = reader;
    this.#source = source;
    this.#decoder = decoders[encodingOf(headers)]!();
    this.#decoder.on("data", (bytes: Buffer) => this.#pass(() => this.#reader.onData(bytes)));
    this.#decoder.on("end", () => this.#isOver || this.#source.end());
    this.#decoder.on("drain", () => this.#source.resume());
    this.#decoder.on("error", (cause: Error) => {
      this.#fail(
        new AppError("upstream_failed", "The engine's compressed response cannot be decompressed.", { cause }),
      );
    });
  }

  push(bytes: Buffer): void {
    if (!this.#isOver && !this.#decoder.write(bytes)) this.#source.pause();
  }

  /** The last byte has arrived. */
  end(): void {
    if (!this.#isOver) this.#decoder.end();
  }

  pause(): void {
    this.#decoder.pause();
  }

  resume(): void {
    this.#decoder.resume();
  }

  /** The reader wants no more. */
  destroy(): void {
    this.#isOver = true;
    this.#decoder.destroy();
  }

  #pass(read: () => void): void {
    if (this.#isOver) return;
    try {
      read();
    } catch (error) {
      this.#fail(toAppError(error));
    }
  }

  #fail(error: AppError): void {
    if (this.#isOver) return;
    this.destroy();
    this.#source.fail(error);
  }
}
