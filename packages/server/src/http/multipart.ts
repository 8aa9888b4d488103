/**
 * Parses a multipart/form-data body incrementally, in chunks of any size. Bytes of parts are passed on as they arrive; only a
 * part's headers are buffered. https://www.rfc-editor.org/rfc/rfc7578 · https://www.rfc-editor.org/rfc/rfc2046#section-5.1
 */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";

/** The headers of a part. */
export interface PartHeaders {
  readonly name: string;
  readonly fileName: string | undefined;
  /** With its parameters, as it was sent. */
  readonly mediaType: string | undefined;
}

export type MultipartItem =
  | { readonly kind: "headers"; readonly headers: PartHeaders }
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  /** The end of a part. */
  | { readonly kind: "end" };

const maximumHeaderBytes = inputLimit({
  area: "Forms and uploads",
  bounds: "Header of one part of a form",
  value: 16 * 1024,
  unit: "bytes",
  error: "invalid_request",
});
/** Maximum white space between a boundary and the end of its line. */
const maximumPadding = 256;
const lineEnd = "\r\n";

/**
 * The boundary of a form's content type. https://www.rfc-editor.org/rfc/rfc2046#section-5.1.1
 * @throws AppError unsupported_media_type for other types, invalid_request for one without a boundary
 */
export function boundaryOf(contentType: string | undefined): string {
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(contentType ?? "")) {
    const seen = contentType === undefined ? "absent" : JSON.stringify(contentType.slice(0, 100));
    throw new AppError("unsupported_media_type", `Content-Type is ${seen}; expected "multipart/form-data".`, {
      param: "content-type",
    });
  }
  const boundary = parameterOf(contentType ?? "", "boundary");
  if (boundary === undefined || boundary === "" || boundary.length > 200) {
    throw malformed("its Content-Type has no boundary of 1 to 200 characters");
  }
  return boundary;
}

type State = "before" | "delimiter" | "headers" | "body" | "over";

export class MultipartDecoder {
  readonly #delimiter: Buffer;
  /** Bytes not processed yet. Begins with a line end, since none need precede the first boundary. */
  #rest: Buffer = Buffer.from(lineEnd);
  #state: State = "before";

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`${lineEnd}--${boundary}`);
  }

  /** Parses the next bytes. @throws AppError invalid_request for a malformed body */
  *push(bytes: Buffer): Generator<MultipartItem, void, undefined> {
    if (this.#state === "over") return;
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      switch (this.#state as State) {
        case "before":
        case "body": {
          const found = yield* this.#passUntilDelimiter();
          if (!found) return;
          break;
        }
        case "delimiter":
          if (!this.#readDelimiterLine()) return;
          break;
        case "headers": {
          const headers = this.#readHeaders();
          if (headers === undefined) return;
          yield { kind: "headers", headers };
          break;
        }
        case "over":
          // The epilogue is ignored.
          this.#rest = Buffer.alloc(0);
          return;
      }
    }
  }

  /** Ends the body. @throws AppError invalid_request if its last boundary is missing */
  end(): void {
    if (this.#state !== "over") throw malformed("it ends before its last boundary");
  }

  *#passUntilDelimiter(): Generator<MultipartItem, boolean, undefined> {
    const inPart = this.#state === "body";
    const found = this.#rest.indexOf(this.#delimiter);
    // Bytes that may begin a boundary are kept until more arrive.
    const until = found === -1 ? this.#possibleDelimiter() : found;
    if (inPart && until > 0) yield { kind: "bytes", bytes: this.#rest.subarray(0, until) };
    if (found === -1) {
      this.#rest = this.#rest.subarray(until);
      return false;
    }
    this.#rest = this.#rest.subarray(found + this.#delimiter.length);
    this.#state = "delimiter";
    if (inPart) yield { kind: "end" };
    return true;
  }

  /** Index of a possible incomplete boundary at the end of the buffer, else the buffer's length. */
  #possibleDelimiter(): number {
    const rest = this.#rest;
    let at = rest.indexOf(lineEnd[0]!, Math.max(0, rest.length - this.#delimiter.length + 1));
    while (at !== -1 && rest.compare(this.#delimiter, 0, rest.length - at, at) !== 0)
      at = rest.indexOf(lineEnd[0]!, at + 1);
    return at === -1 ? rest.length : at;
  }

  /** Reads what follows a boundary: `--` after the last one, else a line end, which stays in the buffer. */
  #readDelimiterLine(): boolean {
    const text = this.#rest.toString("latin1", 0, maximumPadding);
    if (text.startsWith("--")) {
      this.#state = "over";
      return true;
    }
    const padding = /^[ \t]*/.exec(text)![0].length;
    const next = text.slice(padding, padding + 2);
    if (next === lineEnd) {
      this.#rest = this.#rest.subarray(padding);
      this.#state = "headers";
      return true;
    }
    const mayGoOn = text === "-" || lineEnd.startsWith(next);
    if (mayGoOn && text.length < maximumPadding) return false;
    throw malformed("a boundary is not followed by the end of the line");
  }

  #readHeaders(): PartHeaders | undefined {
    const end = this.#rest.indexOf(lineEnd + lineEnd);
    if ((end === -1 ? this.#rest.length : end) > maximumHeaderBytes) {
      throw malformed(`the header of a part is longer than ${maximumHeaderBytes} bytes`);
    }
    if (end === -1) return undefined;
    const headers = parseHeaders(this.#rest.toString("utf8", 0, end));
    this.#rest = this.#rest.subarray(end + 2 * lineEnd.length);
    this.#state = "body";
    return headers;
  }
}

function parseHeaders(text: string): PartHeaders {
  const headers = new Map<string, string>();
  for (const line of text.split(lineEnd).slice(1)) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get("content-disposition") ?? "";
  const name = parameterOf(disposition, "name");
  if (!/^form-data\s*;/i.test(disposition) || name === undefined) {
    throw malformed('a part has no "Content-Disposition: form-data" with a name');
  }
  const encoding = headers.get("content-transfer-encoding")?.toLowerCase() ?? "binary";
  if (encoding === "base64" || encoding === "quoted-printable") {
    throw malformed(
      `the part ${JSON.stringify(name.slice(0, 100))} has a Content-Transfer-Encoding; send its bytes unencoded`,
    );
  }
  return { name, fileName: parameterOf(disposition, "filename"), mediaType: headers.get("content-type") };
}

/** A header's parameter, unquoted, with the percent-encoding that browsers use for quotes and line ends decoded. */
function parameterOf(header: string, parameter: string): string | undefined {
  for (const { groups } of header.matchAll(
    /;\s*(?<name>[^=;\s"]+)\s*=\s*(?:"(?<quoted>(?:\\.|[^"\\])*)"|(?<plain>[^;]*))/g,
  )) {
    const { name = "", quoted, plain = "" } = groups ?? {};
    if (name.toLowerCase() !== parameter) continue;
    if (quoted === undefined) return plain.trim();
    return quoted
      .replaceAll(/\\(["\\])/g, "$1")
      .replaceAll(/%22/g, '"')
      .replaceAll(/%0D/gi, "\r")
      .replaceAll(/%0A/gi, "\n");
  }
  return undefined;
}

function malformed(reason: string): AppError {
  return new AppError("invalid_request", `The body is not valid multipart/form-data: ${reason}.`);
}
