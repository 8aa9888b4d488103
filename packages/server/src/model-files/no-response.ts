/** The error of a download's request that got no response. */
import { AppError } from "../errors.ts";
import type { NetworkFailure } from "../network/network-failure.ts";

/** No response arrived; the message says why. */
export class NoResponse extends Error {
  readonly failure: NetworkFailure;

  constructor(failure: NetworkFailure, cause: unknown) {
    super(failure.what, { cause });
    this.failure = failure;
  }
}

/** Throws the error for the caller. */
export function explainNoResponse(error: unknown): never {
  if (!(error instanceof NoResponse)) throw error;
  throw new AppError("upstream_failed", `The download failed: ${error.failure.what}.`, { cause: error.cause });
}
