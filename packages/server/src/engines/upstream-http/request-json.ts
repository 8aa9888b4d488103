/** Sends a request and parses its JSON response. */
import { AppError } from "../../errors.ts";
import { withoutByteOrderMark } from "./byte-order-mark.ts";
import { BodyCollector, refuseCompressed } from "./body-collector.ts";
import { ErrorResponse, isErrorStatus } from "./error-response.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import type { UpstreamRequestControl, OutgoingRequest } from "./upstream-request.ts";
import type { ResponseHeaders, ResponseReader } from "./response-reader.ts";

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
  #refusal: ErrorResponse | undefined;
  readonly #body: BodyCollector;

  constructor(maxBytes: number, settle: { resolve(value: unknown): void; reject(error: AppError): void }) {
    this.#maxBytes = maxBytes;
    this.#settle = settle;
    this.#body = new BodyCollector(maxBytes);
  }

  onStart(status: number, headers: ResponseHeaders): void {
    if (isErrorStatus(status)) {
      this.#refusal = new ErrorResponse(status, headers);
      this.upstreamRequest?.expectErrorBody();
    } else refuseCompressed(headers);
  }

  onData(bytes: Buffer): void {
    if (this.#refusal === undefined) {
      if (!this.#body.push(bytes)) throw responseTooLarge(this.#maxBytes);
      return;
    }
    if (this.#refusal.push(bytes)) return;
    this.upstreamRequest?.cancel();
    this.onEnd();
  }

  onEnd(): void {
    if (this.#refusal !== undefined) return this.#settle.reject(this.#refusal.error);
    try {
      this.#settle.resolve(parseResponse(this.#body.text));
    } catch (error) {
      this.#settle.reject(error as AppError);
    }
  }

  onFailure(error: AppError): void {
    this.#settle.reject(this.#refusal?.errorAfter(error) ?? error);
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
