/** Sends a request and parses its JSON response. */
import { AppError } from "../../errors.ts";
import { withoutByteOrderMark } from "./byte-order-mark.ts";
import { BodyCollector, refuseCompressed } from "./body-collector.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import type { UpstreamRequestControl, OutgoingRequest } from "./upstream-request.ts";
import type { ResponseHeaders, ResponseReader } from "./response-reader.ts";
import { responseError } from "./upstream-error.ts";

/** How much of an error body is read. */
export const maxErrorBytes = 65_536;

/**
 * @param read turns the parsed JSON of a response with status 2xx into the result; may throw
 * @throws AppError for everything else
 */
export function requestJson<Result = unknown>(
  pool: ConnectionPool,
  request: OutgoingRequest,
  maxBytes: number,
  read: (value: unknown) => Result = (value) => value as Result,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const collector = new ResponseCollector(maxBytes, { resolve: (value) => resolve(read(value)), reject });
    collector.upstreamRequest = pool.open(request, collector);
  });
}

class ResponseCollector implements ResponseReader {
  upstreamRequest: UpstreamRequestControl | undefined;
  readonly #maxBytes: number;
  readonly #settle: { resolve(value: unknown): void; reject(error: AppError): void };
  #status = 0;
  #headers: ResponseHeaders = {};
  #body = new BodyCollector(maxErrorBytes);

  constructor(maxBytes: number, settle: { resolve(value: unknown): void; reject(error: AppError): void }) {
    this.#maxBytes = maxBytes;
    this.#settle = settle;
  }

  get #isRefusal(): boolean {
    return this.#status >= 300;
  }

  onStart(status: number, headers: ResponseHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (this.#isRefusal) this.upstreamRequest?.expectErrorBody();
    else {
      refuseCompressed(headers);
      this.#body = new BodyCollector(this.#maxBytes);
    }
  }

  onData(bytes: Buffer): void {
    if (this.#body.push(bytes)) return;
    if (!this.#isRefusal) throw responseTooLarge(this.#maxBytes);
    this.upstreamRequest?.cancel();
    this.onEnd();
  }

  onEnd(): void {
    const text = this.#body.text;
    if (this.#isRefusal) {
      this.#settle.reject(responseError({ status: this.#status, headers: this.#headers, text }));
      return;
    }
    try {
      this.#settle.resolve(parseResponse(text));
    } catch (error) {
      this.#settle.reject(error as AppError);
    }
  }

  onFailure(error: AppError): void {
    // An error body that does not end adds nothing to its status.
    const isCut = this.#isRefusal && (error.code === "upstream_timeout" || error.code === "upstream_failed");
    if (isCut) this.onEnd();
    else this.#settle.reject(error);
  }
}

/** @throws AppError upstream_failed */
export function parseResponse(text: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(text)) as unknown;
  } catch (error) {
    throw new AppError("upstream_failed", "The engine's response is not JSON.", { cause: error });
  }
}

export function responseTooLarge(maxBytes: number): AppError {
  return new AppError("upstream_failed", `The engine's response is larger than ${maxBytes} bytes.`);
}
