/** Reads a response with an error status, whose body explains it as far as it comes. */
import type { AppError } from "../../errors.ts";
import { BodyCollector } from "./body-collector.ts";
import type { ResponseHeaders } from "./response-reader.ts";
import { responseError } from "./upstream-error.ts";

/** How much of the body is read. */
const maxErrorBytes = 65_536;

export function isErrorStatus(status: number): boolean {
  return status >= 300;
}

export class ErrorResponse {
  readonly #status: number;
  readonly #headers: ResponseHeaders;
  readonly #body = new BodyCollector(maxErrorBytes);

  constructor(status: number, headers: ResponseHeaders) {
    this.#status = status;
    this.#headers = headers;
  }

  /** @returns false once there is enough */
  push(bytes: Buffer): boolean {
    return this.#body.push(bytes);
  }

  get error(): AppError {
    return responseError({ status: this.#status, headers: this.#headers, text: this.#body.text });
  }

  /** The error of a response whose transfer failed: a body that does not end adds nothing to the status. */
  errorAfter(failure: AppError): AppError {
    return failure.code === "upstream_timeout" || failure.code === "upstream_failed" ? this.error : failure;
  }
}
