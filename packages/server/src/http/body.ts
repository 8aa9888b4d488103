/** Reads a request's body once, into one buffer: checks its media type, decompresses it, and limits its size. */
import type { IncomingMessage } from "node:http";
import type { Operation } from "../api/operation.ts";
import { showValue } from "../api/validate.ts";
import { AppError } from "../errors.ts";
import { type BodyLimits, collectBody } from "./collect-body.ts";
import { codings, decompress, isCoding } from "./decompress.ts";
import type { CutTexts } from "./json-outline.ts";
import { parseOutline } from "./parse-json.ts";
import { decompressSnappy } from "./snappy.ts";

export interface JsonBodyLimits extends BodyLimits {
  /** JSON values and member names in one body. */
  readonly maxValues: number;
}

export interface ReadBody {
  readonly bytes: Buffer;
  readonly value: unknown;
  /** Present if long texts of the value are cut. */
  readonly texts?: CutTexts;
}

/**
 * The body as parsed JSON, in which long texts may be cut, and as bytes.
 * @param whenEmpty the value of an empty body; absent: an empty body is an error
 * @throws AppError unsupported_media_type, payload_too_large, invalid_json, client_closed, or what the charge throws
 */
export async function readJsonBody(
  request: IncomingMessage,
  limits: JsonBodyLimits,
  whenEmpty?: unknown,
): Promise<ReadBody> {
  const type = request.headers["content-type"];
  if (type !== undefined && !/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) {
    throw new AppError("unsupported_media_type", `Content-Type is ${showValue(type)}; expected "application/json".`, {
      param: "content-type",
    });
  }
  const bytes = await readBody(request, limits);
  if (bytes.length === 0 && whenEmpty !== undefined) return { bytes, value: whenEmpty };
  const parsing = parseOutline(bytes, limits);
  const parsed = parsing instanceof Promise ? await parsing : parsing;
  return { bytes, ...parsed };
}

/**
 * The bytes of a body that is not JSON.
 * @throws AppError unsupported_media_type, payload_too_large, invalid_request, client_closed, or what the charge throws
 */
export async function readRawBody(
  request: IncomingMessage,
  { snappyTypes, types }: NonNullable<Operation["rawBody"]>,
  limits: BodyLimits,
): Promise<ReadBody> {
  const type = request.headers["content-type"];
  if (!types.includes(mediaType(type))) {
    const allowed = types.map((name) => `"${name}"`).join(" or ");
    throw new AppError(
      "unsupported_media_type",
      `Content-Type is ${type === undefined ? "absent" : showValue(type)}; expected ${allowed}.`,
      { param: "content-type" },
    );
  }
  const isSnappy = snappyTypes?.includes(mediaType(type));
  return { bytes: await (isSnappy === true ? readSnappyBody : readBody)(request, limits), value: undefined };
}

/** A content type without its parameters, in lower case; empty when absent. */
function mediaType(contentType: string | undefined): string {
  return contentType?.split(";", 1)[0]!.trim().toLowerCase() ?? "";
}

/** In lower case: content codings are case-insensitive. https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1 */
export function contentEncoding(request: IncomingMessage): string {
  return request.headers["content-encoding"]?.toLowerCase() ?? "identity";
}

/** The body's bytes, decompressed. */
function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const encoding = contentEncoding(request);
  if (encoding === "identity") return collectDeclared(request, limits);
  if (!isCoding(encoding)) throw unknownEncoding(encoding, codings);
  return collectDeclared(request, limits).then(async (bytes) =>
    release(bytes, limits, await decompress(bytes, limits, encoding)),
  );
}

/** The bytes of a body that is always compressed by Snappy, also if no header says so. */
async function readSnappyBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const encoding = contentEncoding(request);
  if (encoding !== "identity" && encoding !== "snappy") throw unknownEncoding(encoding, ["snappy"]);
  const bytes = await collectDeclared(request, limits);
  return release(bytes, limits, await decompressSnappy(bytes, limits));
}

function unknownEncoding(encoding: string, expected: readonly string[]): AppError {
  const allowed = expected.map((name) => `"${name}"`).join(", ");
  return new AppError(
    "unsupported_media_type",
    `Content-Encoding is ${showValue(encoding)}; expected ${allowed} or "identity".`,
    { param: "content-encoding" },
  );
}

function collectDeclared(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const declared = request.headers["content-length"];
  return collectBody(request, limits, { declaredBytes: declared === undefined ? undefined : Number(declared) });
}

/** The decompressed bytes, without the charge for the compressed ones. */
function release(compressed: Buffer, { charge }: BodyLimits, bytes: Buffer): Buffer {
  charge.remove(compressed.length);
  return bytes;
}
