/** Reads a request's body once, into one buffer, within limits: bytes, also after decompression, and media type. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { AppError } from "../errors.ts";
import type { MemoryCharge } from "../memory-budget.ts";
import { decompress, tooLarge } from "./decompress.ts";
import { showValue } from "../api/validate.ts";
import { isNestedDeeper } from "./json-depth.ts";

/** Deep enough for any real request, and far from where recursive code would exhaust the stack. */
const maxJsonDepth = 500;

export interface BodyLimits {
  /** Largest body, after decompression. */
  readonly limitBytes: number;
  /** Charged with the body before it is kept. */
  readonly charge: MemoryCharge;
}

export interface ReadBody {
  readonly bytes: Buffer;
  readonly value: unknown;
}

/**
 * The body as JSON and as the bytes that it came in.
 * @param whenEmpty the value of an empty body; absent: an empty body is an error
 * @throws AppError unsupported_media_type, payload_too_large, invalid_json or client_closed
 */
export async function readJsonBody(
  request: IncomingMessage,
  { limitBytes, charge }: BodyLimits,
  whenEmpty?: unknown,
): Promise<ReadBody> {
  const type = request.headers["content-type"];
  if (type !== undefined && !/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) {
    throw new AppError("unsupported_media_type", `Content-Type is ${showValue(type)}; expected "application/json".`, {
      param: "content-type",
    });
  }
  const bytes = await readBody(request, limitBytes, (length) => charge.add(length));
  return { bytes, value: bytes.length === 0 && whenEmpty !== undefined ? whenEmpty : parseJson(bytes) };
}

/**
 * The bytes of a body that is not one JSON value.
 * @throws AppError unsupported_media_type, payload_too_large, invalid_request or client_closed
 */
export async function readRawBody(
  request: IncomingMessage,
  types: readonly string[],
  { limitBytes, charge }: BodyLimits,
): Promise<ReadBody> {
  const type = request.headers["content-type"];
  if (!types.includes(mediaType(type))) {
    const allowed = types.map((each) => `"${each}"`).join(" or ");
    throw new AppError(
      "unsupported_media_type",
      `Content-Type is ${type === undefined ? "absent" : showValue(type)}; expected ${allowed}.`,
      { param: "content-type" },
    );
  }
  const bytes = await readBody(request, limitBytes, (length) => charge.add(length));
  if (contentEncoding(request) === "gzip") charge.add(bytes.length);
  return { bytes, value: undefined };
}

/** A content type without its parameters, in lower case; empty when absent. */
function mediaType(contentType: string | undefined): string {
  return contentType?.split(";", 1)[0]!.trim().toLowerCase() ?? "";
}

/** In lower case, since the names of codings are case-insensitive: https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1 */
export function contentEncoding(request: IncomingMessage): string {
  return request.headers["content-encoding"]?.toLowerCase() ?? "identity";
}

/**
 * The body's bytes, decompressed. A declared length is read into a buffer of that size, so the body never exists twice.
 * @throws AppError unsupported_media_type, payload_too_large, invalid_request or client_closed
 */
export async function readBody(
  request: IncomingMessage,
  limitBytes: number,
  onBytes?: (count: number) => void,
): Promise<Buffer> {
  const encoding = contentEncoding(request);
  if (encoding !== "identity" && encoding !== "gzip") {
    throw new AppError(
      "unsupported_media_type",
      `Content-Encoding is ${showValue(encoding)}; expected "gzip" or "identity".`,
      { param: "content-encoding" },
    );
  }
  const declared = Number(request.headers["content-length"] ?? Number.NaN);
  if (declared > limitBytes) throw tooLarge(limitBytes);
  const bytes = await collect(request, { limitBytes, declaredBytes: declared, onBytes });
  return encoding === "gzip" ? decompress(bytes, limitBytes) : bytes;
}

interface Collecting {
  readonly limitBytes: number;
  /** NaN when it is not known. */
  readonly declaredBytes: number;
  /** Told of each piece; what it throws ends the reading. */
  readonly onBytes: ((count: number) => void) | undefined;
}

function collect(source: IncomingMessage, { limitBytes, declaredBytes, onBytes }: Collecting): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const giveUp = (error: unknown): void => {
      // The rest is thrown away as it comes, so that the answer can be read and the connection used again.
      source.removeAllListeners("data").resume();
      reject(error);
    };
    let whole: Buffer | undefined = Number.isNaN(declaredBytes) ? undefined : Buffer.allocUnsafe(declaredBytes);
    const chunks: Buffer[] = [];
    let length = 0;
    source.on("data", (chunk: Buffer) => {
      if (length + chunk.length > limitBytes) return giveUp(tooLarge(limitBytes));
      try {
        onBytes?.(chunk.length);
      } catch (error) {
        return giveUp(error);
      }
      if (whole === undefined) chunks.push(chunk);
      else if (length === 0 && chunk.length === whole.length) whole = chunk;
      else chunk.copy(whole, length);
      length += chunk.length;
    });
    let ended = false;
    source.once("end", () => {
      ended = true;
      resolve(whole ?? Buffer.concat(chunks, length));
    });
    source.once("close", () => {
      // Every request closes; an error for each would cost more than all the rest here.
      if (!ended)
        reject(new AppError("client_closed", "The client closed the connection before its request was whole."));
    });
    source.once("error", (error) =>
      reject(new AppError("invalid_request", "The body could not be read.", { cause: error })),
    );
  });
}

/** The value, or an error that says where the text stops being JSON. */
function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new AppError("invalid_json", "The body is empty; expected a JSON object.");
  if (!isUtf8(bytes)) throw new AppError("invalid_json", "The body is not valid UTF-8, which JSON must be.");
  if (isNestedDeeper(bytes, maxJsonDepth)) {
    throw new AppError(
      "invalid_json",
      `The body is nested more than ${maxJsonDepth} levels deep, the most that is taken.`,
    );
  }
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    const where =
      error instanceof SyntaxError
        ? /at position \d+(?: \(line \d+ column \d+\))?/.exec(error.message)?.[0]
        : undefined;
    throw new AppError(
      "invalid_json",
      `The body is not valid JSON${where === undefined ? "" : `: unexpected text ${where}`}.`,
      { cause: error },
    );
  }
}
