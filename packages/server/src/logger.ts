/**
 * Writes the log, as JSON lines or as lines for people: `error` requires an operator's attention, `warn` reports a problem that
 * was handled, `info` has one line per request. Secrets are redacted here.
 */
import { setTimeout as setTimeoutPromise } from "node:timers/promises";
import sonicBoom from "sonic-boom";
import { renderLogLine, type LogLineStyle } from "./log-line.ts";
import { toLogLine, type LogFields } from "./log-record.ts";

export { redactText, type LogFields } from "./log-record.ts";

export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** A logger whose level can change while the server runs. */
export interface LeveledLogger extends Logger {
  setLevel(level: LogLevel): void;
  /** Writes what another process of the server wrote to its standard error: whole lines, most of them of its log. */
  writeLines(lines: Buffer): void;
  /** Flushes to standard error, for a limited time if nothing reads it. Nothing may be logged afterwards. */
  close(): Promise<void>;
}

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export const logFormats = ["auto", "json", "text"] as const;
export type LogLevel = (typeof logLevels)[number];

/** One system call writes many lines: at 10,000 lines a second, a call per line would be a tenth of the server's work. */
const bufferBytes = 32_768;
const flushIntervalMs = 50;

/** Maximum wait for the log's reader at shutdown. */
const closeTimeoutMs = 2_000;
/** Unread output beyond this is dropped. */
const waitingBytes = 16_777_216;

interface LogOutput {
  write(line: string, isUrgent: boolean): void;
  writeLines(lines: Buffer): void;
  close(): Promise<void>;
}

/** Gathers lines as text: a write to the file costs more than the line. Warnings and errors are passed on at once. */
function bufferedStandardError(): LogOutput {
  const file = new sonicBoom.SonicBoom({
    dest: 2,
    sync: false,
    maxWrite: 2 * bufferBytes,
    maxLength: waitingBytes,
    contentMode: "buffer",
  });
  /** Nobody reads the log any more. */
  let isBroken = false;
  file.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    isBroken = true;
  });
  const write = (bytes: Buffer): void => {
    // Given a string, it would measure and copy its whole buffer.
    if (!isBroken) file.write(bytes as unknown as string);
  };
  let lines = "";
  let timer: NodeJS.Timeout | undefined;
  const pass = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (lines === "") return;
    write(Buffer.from(lines));
    lines = "";
  };
  const onExit = (): void => {
    pass();
    if (!isBroken) file.flushSync();
  };
  process.once("exit", onExit);
  return {
    write(line, isUrgent) {
      lines += line;
      if (isUrgent || lines.length >= bufferBytes) pass();
      else timer ??= setTimeout(pass, flushIntervalMs).unref();
    },
    writeLines(bytes) {
      pass();
      write(bytes);
    },
    async close() {
      pass();
      process.off("exit", onExit);
      if (isBroken) return;
      const flushed = new Promise<void>((resolve) => {
        file.flush(() => resolve());
      });
      await Promise.race([flushed, setTimeoutPromise(closeTimeoutMs, undefined, { ref: false })]);
      file.destroy();
    },
  };
}

export interface LoggerOptions {
  /** Absent: standard error, so that standard output stays free for the user. */
  readonly destination?: NodeJS.WritableStream | undefined;
  /** Lines for people, written at once to the destination, so that they keep their place among its other output; absent: JSON. */
  readonly text?: LogLineStyle | undefined;
  /** The process of the server that writes, if it has several: a field of every line. */
  readonly worker?: number | undefined;
}

export function createLogger(level: LogLevel, { destination, text, worker }: LoggerOptions = {}): LeveledLogger {
  const standardError = destination === undefined ? bufferedStandardError() : undefined;
  const output = standardError ?? {
    write: (line: string) => void destination!.write(line),
    writeLines: (bytes: Buffer) => void destination!.write(bytes),
  };
  const suffix = worker === undefined ? undefined : `,"worker":${worker}}\n`;
  let leastRank = logLevels.indexOf(level);
  const writer = (each: LogLevel) => {
    const rank = logLevels.indexOf(each);
    const isUrgent = rank >= logLevels.indexOf("warn");
    return (fields: LogFields, message: string): void => {
      if (rank < leastRank) return;
      const plain = toLogLine(each, fields, message);
      const line = suffix === undefined ? plain : `${plain.slice(0, plain.lastIndexOf("}"))}${suffix}`;
      output.write(text === undefined ? line : renderLogLine(line, text), isUrgent);
    };
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
    setLevel(next) {
      leastRank = logLevels.indexOf(next);
    },
    writeLines(lines) {
      if (text === undefined) return output.writeLines(lines);
      for (const line of lines.toString().split("\n"))
        if (line !== "") output.write(renderForeignLine(line, text), false);
    },
    close: async () => standardError?.close(),
  };
}

/** A line of the log, or what Node or a library wrote. */
function renderForeignLine(line: string, text: LogLineStyle): string {
  try {
    return renderLogLine(line, text);
  } catch {
    return `${line}\n`;
  }
}

export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };
