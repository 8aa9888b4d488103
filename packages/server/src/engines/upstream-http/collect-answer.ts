/** A request whose answer is JSON in one piece. */
import { AppError } from "../../errors.ts";
import { BodyCollector, checkNotCompressed } from "./body-collector.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import type { AnswerHeaders, AnswerReader, UpstreamRequestControl, OutgoingRequest } from "./upstream-request.ts";
import { refusal } from "./upstream-error.ts";

/** As much of an error's body as is read. */
export const maxErrorBytes = 65_536;

/**
 * @returns the parsed JSON of an answer with status 2xx
 * @throws AppError for everything else
 */
export function collectAnswer(pool: ConnectionPool, request: OutgoingRequest, maxBytes: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const collector = new AnswerCollector(maxBytes, { resolve, reject });
    collector.upstreamRequest = pool.open(request, collector);
  });
}

class AnswerCollector implements AnswerReader {
  upstreamRequest: UpstreamRequestControl | undefined;
  readonly #maxBytes: number;
  readonly #settle: { resolve(value: unknown): void; reject(error: AppError): void };
  #status = 0;
  #headers: AnswerHeaders = {};
  #body = new BodyCollector(maxErrorBytes);

  constructor(maxBytes: number, settle: { resolve(value: unknown): void; reject(error: AppError): void }) {
    this.#maxBytes = maxBytes;
    this.#settle = settle;
  }

  get #isRefusal(): boolean {
    return this.#status >= 300;
  }

  onStart(status: number, headers: AnswerHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (this.#isRefusal) this.upstreamRequest?.limitRest();
    else {
      checkNotCompressed(headers);
      this.#body = new BodyCollector(this.#maxBytes);
    }
  }

  onData(bytes: Buffer): void {
    if (this.#body.push(bytes)) return;
    if (!this.#isRefusal) throw tooLarge(this.#maxBytes);
    this.upstreamRequest?.leave();
    this.onEnd();
  }

  onEnd(): void {
    const text = this.#body.text;
    if (this.#isRefusal) {
      this.#settle.reject(refusal({ status: this.#status, headers: this.#headers, text }));
      return;
    }
    try {
      this.#settle.resolve(parseAnswer(text));
    } catch (error) {
      this.#settle.reject(error as AppError);
    }
  }

  onFailure(error: AppError): void {
    // An error's body that does not end tells no more than its status.
    const isCut = this.#isRefusal && (error.code === "upstream_timeout" || error.code === "upstream_failed");
    if (isCut) this.onEnd();
    else this.#settle.reject(error);
  }
}

/** @throws AppError upstream_failed */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new AppError("upstream_failed", "The engine's response is not JSON.", { cause: error });
  }
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError("upstream_failed", `The engine's response is larger than ${maxBytes} bytes.`);
}
