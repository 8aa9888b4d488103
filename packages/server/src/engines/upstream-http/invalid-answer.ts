/** Errors for answers with status 2xx that are not what the engine was asked for. */
import { AppError } from "../../errors.ts";

export function invalidAnswer(what: string): AppError {
  return new AppError("upstream_failed", `The engine sent an invalid answer: ${what}.`);
}

export function invalidTranscription(why: string, cause?: unknown): AppError {
  const message = `The engine's answer is not the transcription that it was asked for: ${why}.`;
  return new AppError("upstream_failed", message, { cause });
}

export function tooMany(what: string, limit: number): AppError {
  return new AppError("upstream_failed", `The engine's answer has more than ${limit} ${what}, the most that is taken.`);
}
