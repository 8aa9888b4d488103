/**
 * The log: one JSON object a line. `error` means that a person must act, `warn` that something healed,
 * `info` is one wide line a request. Secrets are removed here, in one place.
 */
import { setTimeout } from "node:timers/promises";
import pino from "pino";

export type LogFields = Record<string, unknown>;

export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** A logger whose level can change while the server runs. */
export interface LeveledLogger extends Logger {
  setLevel(level: LogLevel): void;
  /** Writes what waits to standard error, for a short time if nobody reads it. Nothing may be logged afterwards. */
  close(): Promise<void>;
}

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Keys of ours (sk-…), bearer tokens and passwords in URLs inside free text, and JSON members whose name says that
 * they are secret. A key needs a boundary before it, so that `task-…` is none. Done on the finished line, so that no field, however deep, is forgotten.
 */
const secretText =
  /(?<![A-Za-z0-9])(sk-[\w-]{4})[\w-]{8,}|(\bBearer\s+)[^\s"'\\]+|(:\/\/[^\s/:@"']+:)[^\s@"']+(?=@)|("(?:authorization|x-api-key|api-key|api_key|apiKey|password|secret|cookie)":")[^"]*/gi;

/** Free text without the secrets in it. */
export function redactText(text: string): string {
  return text.replace(
    secretText,
    (_match, key?: string, bearer?: string, url?: string, member?: string) =>
      `${key ?? bearer ?? url ?? member ?? ""}[redacted]`,
  );
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  };
}

/** One system call for many lines: at 10 000 lines a second a call for each would be a tenth of the server's work. */
const bufferBytes = 32_768;
const flushIntervalMs = 50;

/** Longest wait, at the end, for whoever reads the log. */
const closeTimeoutMs = 2_000;
/** More than this that nobody reads is dropped rather than kept in memory. */
const waitingBytes = 16_777_216;

interface Destination extends pino.DestinationStream {
  close(): Promise<void>;
}

function bufferedStandardError(): Destination {
  const file = pino.destination({
    dest: 2,
    sync: false,
    minLength: bufferBytes,
    maxWrite: 2 * bufferBytes,
    maxLength: waitingBytes,
    periodicFlush: flushIntervalMs,
    contentMode: "buffer",
  });
  return {
    // Given text, it would measure and copy all that waits with every line: half of a call's memory, a tenth of its time.
    write: (line) => file.write(Buffer.from(line) as unknown as string),
    async close() {
      const flushed = new Promise<void>((resolve) => {
        file.flush(() => resolve());
      });
      await Promise.race([flushed, setTimeout(closeTimeoutMs, undefined, { ref: false })]);
      // Pino would otherwise write the rest at the process's end and block there for as long as nobody reads.
      file.destroy();
    },
  };
}

/** A logger that writes to `destination` (a stream; standard error when absent, so that standard output stays the user's). */
export function createLogger(level: LogLevel, destination?: NodeJS.WritableStream): LeveledLogger {
  const standardError = destination === undefined ? bufferedStandardError() : undefined;
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
      hooks: { streamWrite: redactText },
    },
    destination ?? standardError,
  );
  return Object.assign(logger, {
    setLevel(next: LogLevel) {
      logger.level = next;
    },
    close: async () => standardError?.close(),
  });
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
