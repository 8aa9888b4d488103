/**
 * Handles bodies that are not read, after an error or where none is needed: discards a small rest so that the connection
 * can be reused, and closes the connection after the response if more is left.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { inputLimit } from "../input-limits.ts";

const maxUnreadBytes = inputLimit({
  area: "HTTP",
  bounds: "Rest of a request body that is read after the request was refused",
  value: 262_144,
  unit: "bytes",
  error: { instead: "the connection is closed" },
});
/** Time for the client to read the response before the connection is closed while it still sends. */
const lingerMs = 2_000;

/**
 * Call it before the headers of the response are written.
 * @returns whether the connection must close after the response, which must say so
 */
export function discardUnreadBody(request: IncomingMessage, response: ServerResponse): boolean {
  const { "content-length": declared, "transfer-encoding": coding } = request.headers;
  if (request.complete || (coding === undefined && (declared === undefined || declared === "0"))) return false;
  discardRest(request);
  if (declared !== undefined && Number(declared) <= maxUnreadBytes) return false;
  // Closing with unread bytes resets the connection, and the client may never see the response.
  const { socket } = request;
  socket.destroySoon = () => {
    socket.end();
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  request.once("end", () => {
    if (response.writableFinished) socket.destroy();
    else response.once("finish", () => socket.destroy());
  });
  return true;
}

/** Discards the rest of a body up to the limit; beyond it the connection is closed. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) {
    request.resume();
    return;
  }
  let unread = 0;
  const onData = (bytes: Buffer): void => {
    unread += bytes.length;
    if (unread <= maxUnreadBytes) return;
    // Back-pressure stops the client once the kernel's buffers are full.
    request.off("data", onData).pause();
    setTimeout(() => request.socket.destroy(), lingerMs).unref();
  };
  // Without a listener, Node would read the body to its end, however long.
  request.on("data", onData).resume();
}
