/** Sends a form whose file is read while it is sent; retries if the file can be read again. */
import { ConfigurationError } from "./errors.ts";
import type { FileSource } from "./file-input.ts";
import { fileSystem, type FileStream } from "./file-system.ts";
import type { FormBody } from "./multipart.ts";

/** What `fetch` receives. */
interface SentBody {
  readonly body: Blob | ReadableStream<Uint8Array>;
  /** Required for bodies that are streams. https://fetch.spec.whatwg.org/#dom-requestinit-duplex */
  readonly duplex?: "half";
  /**
   * If a redirect may be followed, `fetch` keeps a copy of the body, which in Node is the whole file in memory.
   * https://fetch.spec.whatwg.org/#http-network-or-cache-fetch
   */
  readonly redirect: "error";
}

export class Upload {
  readonly #form: FormBody;
  #file: FileStream | undefined;
  #sent: AsyncGenerator<Uint8Array, void, void> | undefined;
  #begun = false;
  #failure: ConfigurationError | undefined;

  constructor(form: FormBody) {
    this.#form = form;
  }

  /** Why the file could not be read, if it could not. */
  get failure(): ConfigurationError | undefined {
    return this.#failure;
  }

  /** Whether another attempt is possible. */
  get repeatable(): boolean {
    const { kind } = this.#form.source;
    return this.#failure === undefined && (kind === "blob" || kind === "path" || !this.#begun);
  }

  /** The body of the next attempt. Throws ConfigurationError if the file cannot be opened. */
  async begin(): Promise<SentBody> {
    const { head, source, tail } = this.#form;
    if (source.kind === "blob") return { body: new Blob([head, source.blob, tail]), redirect: "error" };
    this.#sent = this.#around(await this.#open(source));
    return { body: toStream(this.#sent), duplex: "half", redirect: "error" };
  }

  /** Closes the source of the last attempt. */
  end(): void {
    // A source that is being waited for ends after its next piece.
    this.#sent?.return().catch(() => undefined);
    this.#file?.destroy();
    this.#file = undefined;
  }

  async #open(source: Exclude<FileSource, { kind: "blob" }>): Promise<AsyncIterable<unknown> | Iterable<unknown>> {
    if (source.kind === "pieces") return source.pieces;
    try {
      if (source.kind === "path") {
        const handle = await fileSystem().promises.open(source.path, "r");
        this.#file = handle.createReadStream();
        return this.#file;
      }
      // Not destroyed at the end, because that would close the caller's file.
      return fileSystem().createReadStream("", { fd: source.fd, autoClose: false });
    } catch (error) {
      throw this.#failed(error);
    }
  }

  async *#around(pieces: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<Uint8Array, void, void> {
    yield this.#form.head;
    this.#begun = true;
    try {
      for await (const piece of pieces) {
        if (!(piece instanceof Uint8Array)) throw new TypeError(`it produced ${typeof piece} instead of bytes`);
        yield piece;
      }
    } catch (error) {
      throw this.#failed(error);
    }
    yield this.#form.tail;
  }

  #failed(error: unknown): ConfigurationError {
    const message = error instanceof Error ? error.message : String(error);
    this.#failure =
      error instanceof ConfigurationError
        ? error
        : new ConfigurationError(`\`file\` cannot be read: ${message}`, error);
    return this.#failure;
  }
}

function toStream(pieces: AsyncGenerator<Uint8Array, void, void>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await pieces.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await pieces.return();
      },
    },
    // Nothing is read ahead of what is sent.
    { highWaterMark: 0 },
  );
}
