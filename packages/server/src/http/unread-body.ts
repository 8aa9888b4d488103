/**
 * What becomes of a body that nobody reads any more, because the answer is an error or needs no body: a small rest is
 * read and thrown away so that the connection can be used again; more ends the connection once the answer is out.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { inputLimit } from "../input-limits.ts";

const maxUnreadBytes = inputLimit({
  area: "HTTP",
  bounds: "Rest of a body that is read after its request was refused",
  value: 262_144,
  unit: "bytes",
  error: { instead: "the connection is closed" },
});
/** Time for the client to read the answer before the connection is closed on what it still sends. */
const lingerMs = 2_000;

/**
 * To be called before the answer's head is written.
 * @returns whether the connection must not be used again; the answer says so
 */
export function discardUnreadBody(request: IncomingMessage, response: ServerResponse): boolean {
  const { "content-length": declared, "transfer-encoding": coding } = request.headers;
  if (request.complete || (coding === undefined && (declared === undefined || declared === "0"))) return false;
  discardRest(request);
  if (declared !== undefined && Number(declared) <= maxUnreadBytes) return false;
  // Closed at once with bytes unread, a connection is reset, and the client may never see the answer.
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

/** Reads the rest of a body up to the limit; beyond it the connection is closed. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) {
    request.resume();
    return;
  }
  let unread = 0;
  const onData = (bytes: Buffer): void => {
    unread += bytes.length;
    if (unread <= maxUnreadBytes) return;
    // Back-pressure does the rest: the client cannot send more than the kernel's buffers take.
    request.off("data", onData).pause();
    setTimeout(() => request.socket.destroy(), lingerMs).unref();
  };
  // A body with a listener is left alone by Node, which would otherwise read it to its end, however long.
  request.on("data", onData).resume();
}
