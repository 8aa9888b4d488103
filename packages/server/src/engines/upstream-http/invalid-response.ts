/** Creates the errors for responses with status 2xx whose content is invalid. */
import { AppError } from "../../errors.ts";

export function invalidResponse(what: string): AppError {
  return new AppError("upstream_failed", `The engine sent an invalid response: ${what}.`);
}

export function invalidTranscription(why: string, cause?: unknown): AppError {
  const message = `The engine's response is not a valid transcription: ${why}.`;
  return new AppError("upstream_failed", message, { cause });
}

export function tooManyInResponse(what: string, limit: number): AppError {
  return new AppError("upstream_failed", `The engine's response has more than ${limit} ${what}, which is the limit.`);
}
