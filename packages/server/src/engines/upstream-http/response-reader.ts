/** What reads the response of an engine. */
import type { AppError } from "../../errors.ts";

export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Receives the response. Either `onEnd` or `onFailure` is called, once and last, unless the request was cancelled. */
export interface ResponseReader {
  onStart(status: number, headers: ResponseHeaders): void;
  onData(bytes: Buffer): void;
  onEnd(): void;
  onFailure(error: AppError): void;
}
