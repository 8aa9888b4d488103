/**
 * A multipart/form-data body with one file, read while the route works on it: fields as they come, the file into a spool,
 * as fast as the client sends and whatever the pace of its readers.
 * docs/adr/0017-transcription.md
 */
import type { IncomingMessage } from "node:http";
import { showValue } from "../api/validate.ts";
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import type { MemoryCharge } from "../memory-budget.ts";
import { contentEncoding } from "./body.ts";
import { tooLarge } from "./collect-body.ts";
import { boundaryOf, MultipartDecoder, type MultipartItem, type PartHead } from "./multipart.ts";
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
  /** The bytes from the beginning, as they come; as often as wanted. Fails as the form does. */
  read(): AsyncIterable<Uint8Array>;
}

export interface FormBody {
  /** The fields so far, in the order of the body; files that are not in the field `file` are passed over. */
  readonly fields: readonly FormField[];
  /** Undefined until it begins. */
  readonly file: FormFile | undefined;
  /** The file has begun, or the body is over. Rejects as `whole` does. */
  readonly begun: Promise<void>;
  /** The body is over. Rejects with an AppError when it is malformed, too large, or broken off. */
  readonly whole: Promise<void>;
}

export interface FormLimits {
  readonly maxFileBytes: number;
  /** Where files wait that are too large for memory. */
  readonly directory: string;
}

const mostFields = inputLimit({
  area: "Forms and uploads",
  bounds: "Fields of a form",
  value: 200,
  error: "invalid_request",
});
/** Some fields are JSON, which is parsed at once. */
const longestFieldBytes = inputLimit({
  area: "Forms and uploads",
  bounds: "One field of a form",
  value: 262_144,
  unit: "bytes",
  error: "payload_too_large",
});
const allFieldsBytes = inputLimit({
  area: "Forms and uploads",
  bounds: "All fields of a form together",
  value: 4_194_304,
  unit: "bytes",
  error: "payload_too_large",
});
/** What a body may have besides the file: fields, heads, boundaries, other files. */
const restBytes = 2 * allFieldsBytes;

/** Begins to read. Must be closed. @throws AppError unsupported_media_type, payload_too_large or invalid_request */
export function readForm(request: IncomingMessage, limits: FormLimits, charge: MemoryCharge): SpooledForm {
  const decoder = new MultipartDecoder(boundaryOf(request.headers["content-type"]));
  const encoding = contentEncoding(request);
  if (encoding !== "identity") {
    throw new AppError(
      "unsupported_media_type",
      `Content-Encoding is ${showValue(encoding)}; forms are read as they are.`,
      {
        param: "content-encoding",
      },
    );
  }
  if (Number(request.headers["content-length"]) > limits.maxFileBytes + restBytes) throw tooLarge(limits.maxFileBytes);
  return new SpooledForm(request, { decoder, limits, charge });
}

export class SpooledForm implements FormBody {
  readonly fields: FormField[] = [];
  readonly whole: Promise<void>;
  readonly #begun = Promise.withResolvers<void>();
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
    this.whole = this.#readAll(request, decoder).then(
      () => {
        this.#spool.end();
        this.#begun.resolve();
      },
      (error: unknown) => {
        this.#spool.fail(error);
        this.#begun.reject(error);
        throw error;
      },
    );
    // Whoever waits for one of them is told; nobody has to.
    this.whole.catch(() => {});
    this.#begun.promise.catch(() => {});
  }

  get file(): FormFile | undefined {
    return this.#file;
  }

  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  /** Forgets the file and stops reading the body. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#spool.close();
  }

  async #readAll(request: IncomingMessage, decoder: MultipartDecoder): Promise<void> {
    let bytesLeft = this.#limits.maxFileBytes + restBytes;
    try {
      // The default would close the connection before the answer is out.
      for await (const bytes of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        if (this.#closed) return;
        bytesLeft -= bytes.length;
        if (bytesLeft < 0) throw tooLarge(this.#limits.maxFileBytes);
        for (const item of decoder.push(bytes)) await this.#take(item);
      }
      decoder.end();
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("client_closed", "The client closed the connection before its request was whole.", {
        cause: error,
      });
    } finally {
      discardRest(request);
    }
  }

  async #take(item: MultipartItem): Promise<void> {
    switch (item.kind) {
      case "head":
        this.#part = this.#openPart(item.head);
        return;
      case "bytes":
        await this.#part?.take(item.bytes);
        return;
      case "end":
        this.#part?.end();
        this.#part = undefined;
    }
  }

  #openPart(head: PartHead): OpenPart | undefined {
    if (head.name === "file") return this.#openFile(head);
    if (head.fileName !== undefined) return undefined;
    if (this.fields.length >= mostFields) {
      throw new AppError("invalid_request", `The form has more than ${mostFields} fields.`);
    }
    const pieces: Buffer[] = [];
    let length = 0;
    return {
      take: (bytes) => {
        length += bytes.length;
        if (length > longestFieldBytes) {
          const message = `The field ${JSON.stringify(head.name.slice(0, 100))} has more than ${longestFieldBytes} bytes.`;
          throw new AppError("payload_too_large", message, { param: head.name.slice(0, 100) });
        }
        this.#fieldsBytes += bytes.length;
        if (this.#fieldsBytes > allFieldsBytes) {
          const message = `The form's fields have more than ${allFieldsBytes} bytes together, the most that is taken.`;
          throw new AppError("payload_too_large", message);
        }
        // The bytes, and the text that they become.
        this.#charge.add(bytes.length * 3);
        // A copy, so that a small field does not keep the whole piece of the body that it came in.
        pieces.push(Buffer.from(bytes));
      },
      end: () => void this.fields.push({ name: head.name, value: Buffer.concat(pieces, length).toString("utf8") }),
    };
  }

  #openFile({ fileName, mediaType }: PartHead): OpenPart {
    if (this.#file !== undefined) {
      throw new AppError("invalid_request", "The form has more than one file; expected one.", { param: "file" });
    }
    this.#charge.add(spoolMemoryBytes);
    this.#file = { fileName, mediaType, read: () => this.#spool.read() };
    this.#begun.resolve();
    return {
      take: async (bytes) => {
        if (this.#spool.length + bytes.length > this.#limits.maxFileBytes) {
          const message = `The file has more than ${this.#limits.maxFileBytes} bytes, the most that is taken.`;
          throw new AppError("payload_too_large", message, { param: "file" });
        }
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
