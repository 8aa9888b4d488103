/**
 * Reads a multipart/form-data body with one file while its route runs: fields into memory, the file into a spool. It reads as
 * fast as the client sends, independently of the file's readers.
 * docs/adr/0017-transcription.md
 */
import type { IncomingMessage } from "node:http";
import { showValue } from "../api/validate.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { MemoryCharge } from "../memory-budget.ts";
import { contentEncoding } from "./body.ts";
import { tooLarge } from "./collect-body.ts";
import { boundaryOf, MultipartDecoder, type MultipartItem, type PartHeaders } from "./multipart.ts";
import { discardRest } from "./unread-body.ts";
import { Spool, spoolMemoryBytes } from "./spool.ts";

export interface FormField {
  readonly name: string;
  readonly value: string;
}

export interface FormFile {
  readonly fileName: string | undefined;
  /** With its parameters, such as `audio/L16; rate=8000`. */
  readonly mediaType: string | undefined;
  /** Bytes that have arrived. */
  readonly length: number;
  /** The bytes from the beginning, as they arrive. Can be called repeatedly. Fails if the form does. */
  read(): AsyncIterable<Uint8Array>;
}

export interface FormBody {
  /** The fields so far, in the order of the body. Files in fields other than `file` are ignored. */
  readonly fields: readonly FormField[];
  /** Undefined until the file begins. */
  readonly file: FormFile | undefined;
  /** Resolves when the file has begun or the body is complete. Rejects as `completed` does. */
  readonly fileStarted: Promise<void>;
  /** Resolves when the body is complete. Rejects with an AppError if it is malformed, too large, or incomplete. */
  readonly completed: Promise<void>;
}

export interface FormLimits {
  readonly maxFileBytes: number;
  /** Where files are spooled that are too large for memory. */
  readonly directory: string;
}

const maximumFields = inputLimit({
  area: "Forms and uploads",
  bounds: "Fields of a form",
  value: 200,
  error: "invalid_request",
});
/** Some fields are JSON, which is parsed in one go. */
const maximumFieldBytes = inputLimit({
  area: "Forms and uploads",
  bounds: "One field of a form",
  value: 262_144,
  unit: "bytes",
  error: "payload_too_large",
});
const maximumFieldsBytes = inputLimit({
  area: "Forms and uploads",
  bounds: "All fields of a form together",
  value: 4_194_304,
  unit: "bytes",
  error: "payload_too_large",
});
/** Bytes of a body other than the file: fields, part headers, boundaries, other files. */
const maximumOtherBytes = 2 * maximumFieldsBytes;

/** Starts to read. The form must be closed. @throws AppError unsupported_media_type, payload_too_large or invalid_request */
export function readForm(request: IncomingMessage, limits: FormLimits, charge: MemoryCharge): SpooledForm {
  const decoder = new MultipartDecoder(boundaryOf(request.headers["content-type"]));
  const encoding = contentEncoding(request);
  if (encoding !== "identity") {
    throw new AppError(
      "unsupported_media_type",
      `Content-Encoding is ${showValue(encoding)}; forms must not be compressed.`,
      {
        param: "content-encoding",
      },
    );
  }
  if (Number(request.headers["content-length"]) > limits.maxFileBytes + maximumOtherBytes)
    throw tooLarge(limits.maxFileBytes);
  return new SpooledForm(request, { decoder, limits, charge });
}

export class SpooledForm implements FormBody {
  readonly fields: FormField[] = [];
  readonly completed: Promise<void>;
  readonly #fileStarted = Promise.withResolvers<void>();
  readonly #spool: Spool;
  readonly #limits: FormLimits;
  readonly #charge: MemoryCharge;
  #fieldsBytes = 0;
  #file: FormFile | undefined;
  #part: OpenPart | undefined;
  #closed = false;

  constructor(
    request: IncomingMessage,
    { charge, decoder, limits }: { charge: MemoryCharge; decoder: MultipartDecoder; limits: FormLimits },
  ) {
    this.#limits = limits;
    this.#charge = charge;
    this.#spool = new Spool(limits.directory);
    this.completed = this.#readAll(request, decoder).then(
      () => {
        this.#spool.end();
        this.#fileStarted.resolve();
      },
      (error: unknown) => {
        this.#spool.fail(error);
        this.#fileStarted.reject(error);
        throw error;
      },
    );
    // Callers that await one of them handle its rejection; without a caller it must not be unhandled.
    this.completed.catch(() => {});
    this.#fileStarted.promise.catch(() => {});
  }

  get file(): FormFile | undefined {
    return this.#file;
  }

  get fileStarted(): Promise<void> {
    return this.#fileStarted.promise;
  }

  /** Deletes the file and stops reading the body. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#spool.close();
  }

  async #readAll(request: IncomingMessage, decoder: MultipartDecoder): Promise<void> {
    let bytesLeft = this.#limits.maxFileBytes + maximumOtherBytes;
    try {
      // The default closes the connection before the response is sent.
      for await (const bytes of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        if (this.#closed) return;
        bytesLeft -= bytes.length;
        if (bytesLeft < 0) throw tooLarge(this.#limits.maxFileBytes);
        for (const item of decoder.push(bytes)) await this.#take(item);
      }
      decoder.end();
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("client_closed", "The client disconnected before its request was complete.", {
        cause: error,
      });
    } finally {
      discardRest(request);
    }
  }

  async #take(item: MultipartItem): Promise<void> {
    switch (item.kind) {
      case "headers":
        this.#part = this.#openPart(item.headers);
        return;
      case "bytes":
        await this.#part?.take(item.bytes);
        return;
      case "end":
        this.#part?.end();
        this.#part = undefined;
    }
  }

  #openPart(headers: PartHeaders): OpenPart | undefined {
    if (headers.name === "file") return this.#openFile(headers);
    if (headers.fileName !== undefined) return undefined;
    if (this.fields.length >= maximumFields) {
      throw new AppError("invalid_request", `The form has more than ${maximumFields} fields, which is the limit.`);
    }
    const pieces: Buffer[] = [];
    let length = 0;
    return {
      take: (bytes) => {
        length += bytes.length;
        if (length > maximumFieldBytes) {
          const message = `The field ${JSON.stringify(headers.name.slice(0, 100))} has more than ${maximumFieldBytes} bytes, which is the limit.`;
          throw new AppError("payload_too_large", message, { param: headers.name.slice(0, 100) });
        }
        this.#fieldsBytes += bytes.length;
        if (this.#fieldsBytes > maximumFieldsBytes) {
          const message = `The form's fields have more than ${maximumFieldsBytes} bytes together, which is the limit.`;
          throw new AppError("payload_too_large", message);
        }
        // The bytes, and the string decoded from them.
        this.#charge.add(bytes.length * 3);
        // A copy, so that a small field does not keep its whole chunk of the body in memory.
        pieces.push(Buffer.from(bytes));
      },
      end: () => void this.fields.push({ name: headers.name, value: Buffer.concat(pieces, length).toString("utf8") }),
    };
  }

  #openFile({ fileName, mediaType }: PartHeaders): OpenPart {
    if (this.#file !== undefined) {
      throw new AppError("invalid_request", "The form has more than one file; send one.", { param: "file" });
    }
    const spool = this.#spool;
    this.#file = {
      fileName,
      mediaType,
      get length() {
        return spool.length;
      },
      read: () => spool.read(),
    };
    this.#fileStarted.resolve();
    return {
      take: async (bytes) => {
        if (this.#spool.length + bytes.length > this.#limits.maxFileBytes) {
          const message = `The file has more than ${this.#limits.maxFileBytes} bytes, which is the limit.`;
          throw new AppError("payload_too_large", message, { param: "file" });
        }
        // What the spool keeps in memory, until its file takes over.
        this.#charge.add(Math.min(bytes.length, Math.max(0, spoolMemoryBytes - this.#spool.length)));
        await this.#spool.write(bytes);
      },
      end: () => this.#spool.end(),
    };
  }
}

interface OpenPart {
  take(bytes: Buffer): Promise<void> | void;
  end(): void;
}
