/** Errors of the command itself, and the one line and exit code that any error becomes. */
import { exitCodes, type ExitCode } from "./exit-codes.ts";

/** A failure with its exit code; the message is shown as it is. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = exitCodes.failed, options?: ErrorOptions) {
    super(message, options);
    this.name = "CliError";
    this.exitCode = exitCode;
  }
}

/** The command line is wrong. The message says what was seen and what is allowed. */
export class UsageError extends CliError {
  constructor(message: string) {
    super(message, exitCodes.usage);
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

const exitCodeByErrorCode: Readonly<Record<string, ExitCode>> = {
  connection_error: exitCodes.unreachable,
  incomplete_stream: exitCodes.unreachable,
  timeout: exitCodes.timeout,
};

/** The exit code of an error: its own, or by the HTTP status or the code that it carries. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  const { status, code } = (error ?? {}) as { status?: unknown; code?: unknown };
  if (typeof status === "number") return exitCodeByStatus[status] ?? exitCodes.failed;
  return (typeof code === "string" && exitCodeByErrorCode[code]) || exitCodes.failed;
}

/** The error in one line, without a stack. */
export function errorLine(error: unknown): string {
  const message = error instanceof Error ? error.message || error.name : String(error);
  return message.replaceAll(/\s*\n\s*/g, " ");
}
