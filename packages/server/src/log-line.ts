/**
 * Renders a log record as one short line for a terminal: time, level, message, and the fields that people look for. The
 * values come from clients and other software, so nothing in them reaches the terminal as a control character.
 */
import { styleText } from "node:util";

export interface LogLineStyle {
  readonly colors: boolean;
  /** The terminal's width; requests are cut at it. Undefined if unknown. */
  columns(): number | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
type Format = Parameters<typeof styleText>[0];

const levelFormats: Readonly<Record<string, Format>> = { debug: "dim", info: "green", warn: "yellow", error: "red" };

/** Fields of a request that only programs need, or that the line shows elsewhere. */
const quietFields = new Set([
  "time",
  "level",
  "msg",
  "request_id",
  "operation",
  "method",
  "path",
  "status",
  "outcome",
  "duration_ms",
  "cpu_ms",
  "store_ms",
  "organization_id",
  "project",
  "key_id",
  "client_address",
  "stack",
]);

/** @param json the record as one line of JSON */
export function renderLogLine(json: string, { colors, columns }: LogLineStyle): string {
  const record = JSON.parse(json) as Fields;
  const paint = (format: Format, text: string): string =>
    colors && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  const level = String(record["level"]);
  const time = clock(record["time"]);
  const { message, details, format } = record["msg"] === "request" ? requestParts(record) : eventParts(record, level);
  const head = `${time}  ${level.padEnd(5)}  `;
  // A warning is worth a second line; the many lines of requests are not.
  const width = level === "info" ? (columns() ?? Infinity) : Infinity;
  const shownMessage = cut(message, width - head.length);
  const shownDetails = cut(details, width - head.length - shownMessage.length - 2);
  const parts = [
    `${paint("dim", time)}  ${paint(levelFormats[level] ?? "dim", level.padEnd(5))}  ${paint(format, shownMessage)}`,
    paint("dim", shownDetails),
  ];
  return `${parts.filter((part) => part !== "").join("  ")}\n`;
}

interface Parts {
  readonly message: string;
  readonly details: string;
  readonly format: Format;
}

/** `200  POST  /v1/chat/completions  134 ms`, with what was called and what went wrong. */
function requestParts(record: Fields): Parts {
  const status = Number(record["status"]);
  const duration = `${Math.round(Number(record["duration_ms"]))} ms`;
  const outcome = record["outcome"];
  const words = [
    Number.isFinite(status) ? String(status) : "-  ",
    show(record["method"] ?? "").padEnd(4),
    show(record["path"] ?? ""),
    duration,
    ...(outcome === undefined || outcome === "ok" ? [] : [show(outcome)]),
  ];
  const format = status >= 500 ? "red" : status >= 400 ? "yellow" : "reset";
  return { message: words.join("  "), details: fieldsOf(record), format };
}

function eventParts(record: Fields, level: string): Parts {
  const format = level === "error" ? "red" : level === "warn" ? "yellow" : "reset";
  return { message: show(record["msg"] ?? ""), details: fieldsOf(record), format };
}

function fieldsOf(record: Fields): string {
  return Object.entries(record)
    .filter(([name, value]) => value !== null && value !== "" && !quietFields.has(name))
    .map(([name, value]) => (name === "error" ? describeError(value) : `${printable(name)}=${show(value)}`))
    .join("  ");
}

/** The messages of an error and its causes, without their stacks. */
function describeError(error: unknown): string {
  if (typeof error !== "object" || error === null) return show(error);
  const { message, cause } = error as Fields;
  const text = message === undefined ? show(error) : show(message);
  return cause === undefined ? text : `${text} (${describeError(cause)})`;
}

function show(value: unknown): string {
  return printable(typeof value === "string" ? value : JSON.stringify(value));
}

/**
 * Control characters, line and paragraph separators, and characters that change the direction of text.
 * https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters
 */
// oxlint-disable-next-line no-control-regex -- these are what is replaced
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text with characters that could control the terminal written as escapes. */
function printable(text: string): string {
  return text.replace(unprintable, (character) =>
    character === "\n" ? "\\n" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  return width < 2 ? "" : `${text.slice(0, width - 1)}…`;
}

/** Local time of day. */
function clock(time: unknown): string {
  const date = new Date(String(time));
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
