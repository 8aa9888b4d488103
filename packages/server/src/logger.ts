/**
 * Writes the log, as JSON lines or as lines for people: `error` requires an operator's attention, `warn` reports a problem that
 * was handled, `info` has one line per request. Secrets are redacted here.
 */
import { setTimeout } from "node:timers/promises";
import pino from "pino";
import { renderLogLine, type LogLineStyle } from "./log-line.ts";

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
  /** Flushes to standard error, for a limited time if nothing reads it. Nothing may be logged afterwards. */
  close(): Promise<void>;
}

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export const logFormats = ["auto", "json", "text"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Sounding's keys (sk-…), bearer tokens, Basic credentials, passwords in URLs, and JSON members with the name of a secret.
 * A key needs a word boundary before it, so that `task-…` is not one. Applied to the serialized line, so that it covers
 * nested fields.
 */
const secretText =
  /(?<![A-Za-z0-9])(sk-[\w-]{4})[\w-]{8,}|(\bBearer\s+)[^\s"'\\]+|(\bBasic\s+)[A-Za-z0-9+/]{20,}={0,2}|(:\/\/[^\s/:@"']+:)[^\s@"']+(?=@)|("(?:authorization|x-api-key|api-key|api_key|apiKey|password|secret|cookie)":")[^"]*/gi;

/** The text with its secrets redacted. */
export function redactText(text: string): string {
  return text.replace(
    secretText,
    (_match, key?: string, bearer?: string, basic?: string, url?: string, member?: string) =>
      `${key ?? bearer ?? basic ?? url ?? member ?? ""}[redacted]`,
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

/** One system call writes many lines: at 10,000 lines a second, a call per line would be a tenth of the server's work. */
const bufferBytes = 32_768;
const flushIntervalMs = 50;

/** Maximum wait for the log's reader at shutdown. */
const closeTimeoutMs = 2_000;
/** Unread output beyond this is dropped. */
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
    // Given a string, pino measures and copies its whole buffer for every line: half of a call's memory, a tenth of its time.
    write: (line) => file.write(Buffer.from(line) as unknown as string),
    async close() {
      const flushed = new Promise<void>((resolve) => {
        file.flush(() => resolve());
      });
      await Promise.race([flushed, setTimeout(closeTimeoutMs, undefined, { ref: false })]);
      // Otherwise pino writes the rest when the process exits, and blocks while nothing reads it.
      file.destroy();
    },
  };
}

export interface LoggerOptions {
  /** Absent: standard error, so that standard output stays free for the user. */
  readonly destination?: NodeJS.WritableStream | undefined;
  /** Lines for people, written at once to the destination, so that they keep their place among its other output; absent: JSON. */
  readonly text?: LogLineStyle | undefined;
}

export function createLogger(level: LogLevel, { destination, text }: LoggerOptions = {}): LeveledLogger {
  const standardError = destination === undefined ? bufferedStandardError() : undefined;
  const output = destination ?? standardError!;
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
      hooks: { streamWrite: redactText },
    },
    text === undefined ? output : { write: (line) => void output.write(renderLogLine(line, text)) },
  );
  return Object.assign(logger, {
    setLevel(next: LogLevel) {
      logger.level = next;
    },
    close: async () => standardError?.close(),
  });
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
