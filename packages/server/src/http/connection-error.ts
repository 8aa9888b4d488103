/** Responds to requests that Node's parser rejects: malformed ones, too large headers, and too slow requests. */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { AppError, errorTable, toErrorBody } from "../errors.ts";

const reasons: Readonly<Record<string, AppError>> = {
  HPE_HEADER_OVERFLOW: new AppError("headers_too_large", "The request's headers are larger than the limit."),
  ERR_HTTP_REQUEST_TIMEOUT: new AppError("timeout", "The request did not arrive in time."),
};
const malformed = new AppError("invalid_request", "The request is not valid HTTP/1.1.");
const phrases: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

/** Writes the error to the socket, since no response object exists yet, and closes the connection. */
export function refuseConnection(fault: Error & { code?: string }, socket: Socket): void {
  if (fault.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const error = reasons[fault.code ?? ""] ?? malformed;
  const { status } = errorTable[error.code];
  const body = JSON.stringify(toErrorBody(error));
  socket.end(
    `HTTP/1.1 ${status} ${phrases[status]}\r\nx-request-id: req_${randomUUID()}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
