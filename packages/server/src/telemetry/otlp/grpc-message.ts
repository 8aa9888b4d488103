/** Reads and writes the messages, headers and trailers of unary gRPC calls. https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { AppError, toErrorBody } from "../../errors.ts";
import { type BodyLimits, collectBody } from "../../http/collect-body.ts";
import { codings, decompress, isCoding } from "../../http/decompress.ts";
import { rpcCodeOf, rpcCodes, writeStatus } from "./export-result.ts";

export const grpcContentType = "application/grpc+proto";
/** One byte for the compression flag, and four for the message's length. */
const prefixBytes = 5;
const acceptedEncodings = ["identity", ...codings].join(",");

/** The message of a unary call. @throws AppError unsupported_media_type, payload_too_large, invalid_request or client_closed */
export async function readMessage(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  limits: BodyLimits,
): Promise<Buffer> {
  const encoding = headers["grpc-encoding"] ?? "identity";
  if (encoding !== "identity" && !isCoding(encoding)) {
    const allowed = codings.map((each) => `"${each}"`).join(", ");
    throw new AppError(
      "unsupported_media_type",
      `grpc-encoding is "${String(encoding)}"; expected ${allowed} or "identity".`,
    );
  }
  const bytes = await collectBody(stream, limits, { frameBytes: prefixBytes });
  if (bytes.length < prefixBytes) throw new AppError("invalid_request", "The call contains no message.");
  const length = bytes.readUInt32BE(1);
  if (length !== bytes.length - prefixBytes) {
    throw new AppError(
      "invalid_request",
      `The message's declared length is ${length} bytes, but ${bytes.length - prefixBytes} were sent; a unary call contains one message.`,
    );
  }
  const message = bytes.subarray(prefixBytes);
  switch (bytes[0]) {
    case 0:
      return message;
    case 1:
      if (encoding !== "identity") {
        const whole = await decompress(message, limits, encoding);
        limits.charge.remove(bytes.length);
        return whole;
      }
      throw new AppError("invalid_request", "The message is compressed, but grpc-encoding is not set.");
    default:
      throw new AppError("invalid_request", `The message's first byte is ${bytes[0]}; expected 0 or 1.`);
  }
}

export function isGrpc(headers: IncomingHttpHeaders): boolean {
  return /^application\/grpc(?:\+proto)?(?:;|$)/.test(headers["content-type"] ?? "");
}

/** Answers the call with a message and the status 0. */
export function replyMessage(stream: ServerHttp2Stream, message: Uint8Array): void {
  if (stream.destroyed || stream.closed) return;
  stream.respond(
    { ":status": 200, "content-type": grpcContentType, "grpc-accept-encoding": acceptedEncodings },
    { waitForTrailers: true },
  );
  stream.once("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  const framed = Buffer.alloc(prefixBytes + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, prefixBytes);
  stream.end(framed);
}

/** Answers the call with an error: its code, its message and, in `grpc-status-details-bin`, google.rpc.Status with the details. */
export function replyGrpcError(stream: ServerHttp2Stream, error: AppError): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return;
  const headers: OutgoingHttpHeaders = {
    ":status": 200,
    "content-type": grpcContentType,
    "grpc-accept-encoding": acceptedEncodings,
    "grpc-status": String(grpcCodeOf(error)),
    "grpc-message": percentEncoded(error.message),
    "grpc-status-details-bin": Buffer.from(writeStatus(error, "protobuf")).toString("base64"),
  };
  stream.respond(headers, { endStream: true });
  if (stream.readableEnded) return;
  // Discard the rest of the client's message, because a paused stream would never close.
  stream.resume();
  stream.close(constants.NGHTTP2_NO_ERROR);
}

/** Answers a request that is not gRPC, whose client cannot read a gRPC status. */
export function replyHttpError(stream: ServerHttp2Stream, error: AppError): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return;
  stream.respond({ ":status": error.status, "content-type": "application/json" });
  stream.end(JSON.stringify(toErrorBody(error)));
  stream.resume();
}

/** An unknown compression is UNIMPLEMENTED in gRPC. */
function grpcCodeOf(error: AppError): number {
  return error.code === "unsupported_media_type" ? rpcCodes.unimplemented : rpcCodeOf(error);
}

/** Keeps printable ASCII except the percent sign; the rest is percent-encoded UTF-8. */
function percentEncoded(text: string): string {
  return [...Buffer.from(text.toWellFormed().slice(0, 1000), "utf8")]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
    )
    .join("");
}

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** The call's timeout in milliseconds; undefined if the client set none. */
export function timeoutMs(headers: IncomingHttpHeaders): number | undefined {
  const parts = /^(?<amount>\d{1,8})(?<unit>[HMSmun])$/.exec(String(headers["grpc-timeout"] ?? ""))?.groups;
  return parts === undefined ? undefined : Number(parts["amount"]) * unitMs[parts["unit"]!]!;
}
