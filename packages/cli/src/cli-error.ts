/** Errors of the CLI, and the one line and exit code that any error becomes. */
import { ApiStatusError, isSoundingError, type ErrorKind } from "@sounding/client";
import { exitCodes, type ExitCode } from "./exit-codes.ts";

/** A failure with its exit code; the message is shown unchanged. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed, options?: ErrorOptions) {
    super(message, options);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}

/** The command line is invalid. The message says what was seen and what is allowed. */
export class UsageError extends CliError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, exitCodes.usage, options);
    this.name = "UsageError";
  }
}

const exitCodeByStatus: Readonly<Record<number, ExitCode>> = {
  401: exitCodes.denied,
  403: exitCodes.denied,
  404: exitCodes.notFound,
  408: exitCodes.timeout,
  429: exitCodes.tryLater,
  503: exitCodes.tryLater,
  504: exitCodes.timeout,
};

const exitCodeByKind: Partial<Record<ErrorKind, ExitCode>> = {
  configuration: exitCodes.usage,
  connection: exitCodes.unreachable,
  incomplete_stream: exitCodes.unreachable,
  timeout: exitCodes.timeout,
};

/** The exit code of an error: its own, by what happened to the call, or by the HTTP status that it carries. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  const byKind = isSoundingError(error) ? exitCodeByKind[error.kind] : undefined;
  if (byKind !== undefined) return byKind;
  const status = error instanceof Error && "status" in error ? Number(error.status) : 0;
  return exitCodeByStatus[status] ?? exitCodes.failed;
}

const hints: Partial<Record<ExitCode, string>> = {
  [exitCodes.unreachable]:
    "Is the server running? Start one with `sounding serve`, or set --url, SOUNDING_BASE_URL or --profile.",
  [exitCodes.denied]: "Run `sounding login`, or set the key in SOUNDING_API_KEY or --key-file.",
};

/** The error on one line, without a stack: what happened, what to do, and the request ID if the server is at fault. */
export function errorLine(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error);
  const hint = isSoundingError(error) ? hints[exitCodeOf(error)] : undefined;
  const requestId = error instanceof ApiStatusError && error.status >= 500 ? error.requestId : null;
  return [
    hint === undefined ? message : message.replace(/[^.!?]$/, "$&."),
    hint,
    requestId === null ? undefined : `(request ${requestId})`,
  ]
    .filter((part) => part !== undefined)
    .join(" ")
    .replaceAll(/\s*\n\s*/g, " ");
}
