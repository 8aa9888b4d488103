/**
 * Encodes forms with one file, which comes last so that the server has all fields before it.
 * https://www.rfc-editor.org/rfc/rfc7578
 */
import { ConfigurationError } from "./errors.ts";
import { readableFile, type FileInput, type FileSource } from "./file-input.ts";

/** An encoded form: what comes before the file, the file, what comes after it. */
export interface FormBody {
  readonly contentType: string;
  readonly head: Uint8Array<ArrayBuffer>;
  readonly source: FileSource;
  readonly tail: Uint8Array<ArrayBuffer>;
}

/**
 * Lists are repeated fields `name[]`, objects are JSON, null and undefined are omitted.
 * @throws ConfigurationError if the file is invalid
 */
export function createForm(fields: Readonly<Record<string, unknown>>, input: FileInput): FormBody {
  const { source, name, type } = readableFile(input);
  if (/[\r\n]/.test(type)) throw new ConfigurationError("`type` of the file contains a line break.");
  const boundary = `sounding-${randomHex()}`;
  const parts = Object.entries(fields).flatMap(([field, value]) => partsOf(field, value));
  const head = [
    ...parts.map(([field, text]) => `--${boundary}\r\n${disposition(field)}\r\n\r\n${text}\r\n`),
    `--${boundary}\r\n${disposition("file", name)}\r\ncontent-type: ${type}\r\n\r\n`,
  ].join("");
  const encoder = new TextEncoder();
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: encoder.encode(head),
    source,
    tail: encoder.encode(`\r\n--${boundary}--\r\n`),
  };
}

function partsOf(field: string, value: unknown): [field: string, text: string][] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map((item) => [`${field}[]`, textOf(item)]);
  return [[field, textOf(value)]];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function disposition(field: string, fileName?: string): string {
  const file = fileName === undefined ? "" : `; filename="${escaped(fileName)}"`;
  return `content-disposition: form-data; name="${escaped(field)}"${file}`;
}

/** https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
function escaped(name: string): string {
  return name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}

function randomHex(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
