/**
 * Handles bodies that are not read, after an error or where none is needed: discards the rest so that the client reads
 * the response, and closes the connection after the response if the rest is long.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { inputLimit } from "../input-limits.ts";

const maxKeptBytes = inputLimit({
  area: "HTTP",
  bounds: "Body of a refused request whose connection can be used again",
  value: 262_144,
  unit: "bytes",
  error: { instead: "the connection is closed" },
});
const maxUnreadBytes = inputLimit({
  area: "HTTP",
  bounds: "Rest of a request body that is read after the request was refused",
  value: 33_554_432,
  unit: "bytes",
  error: { instead: "the connection is closed" },
});
/** A connection whose client still sends is closed after this time without progress… */
const lingerMs = 2_000;
/** …and after this time in any case. */
const maxLingerMs = 10_000;

/** Bytes that were read after the request was refused. */
const unreadBytes = new WeakMap<IncomingMessage, number>();
const lingering = new WeakSet<IncomingMessage>();

/**
 * Call it before the headers of the response are written.
 * @returns whether the connection must close after the response, which must say so
 */
export function discardUnreadBody(request: IncomingMessage, response: ServerResponse): boolean {
  const { "content-length": declared, "transfer-encoding": coding } = request.headers;
  if (request.complete || (coding === undefined && (declared === undefined || declared === "0"))) return false;
  discardRest(request);
  if (declared !== undefined && Number(declared) <= maxKeptBytes) return false;
  // Closing with unread bytes resets the connection, and the client may never see the response: many clients, such as
  // browsers, read it only after they have sent everything.
  const { socket } = request;
  socket.destroySoon = () => {
    socket.end();
    linger(request);
  };
  request.once("end", () => {
    if (response.writableFinished) socket.destroy();
    else response.once("finish", () => socket.destroy());
  });
  return true;
}

/** Discards the rest of a body. If it is long, the connection is closed after limits of bytes and time. */
export function discardRest(request: IncomingMessage): void {
  if (request.complete) {
    request.resume();
    return;
  }
  if (unreadBytes.has(request)) return;
  unreadBytes.set(request, 0);
  // Without a listener, Node would read the body to its end, however long.
  request.on("data", (bytes: Buffer) => {
    const unread = unreadBytes.get(request)! + bytes.length;
    unreadBytes.set(request, unread);
    if (unread > maxKeptBytes) linger(request);
    // Back-pressure stops the client once the kernel's buffers are full.
    if (unread > maxUnreadBytes) request.pause();
  });
  request.resume();
}

/** Closes the connection after a while without progress, or after a longer one in any case. */
function linger(request: IncomingMessage): void {
  if (lingering.has(request)) return;
  lingering.add(request);
  const { socket } = request;
  const startedMs = performance.now();
  let seen = unreadBytes.get(request);
  const timer = setInterval(() => {
    const unread = unreadBytes.get(request);
    if (unread === seen || performance.now() - startedMs >= maxLingerMs) socket.destroy();
    seen = unread;
  }, lingerMs).unref();
  socket.once("close", () => clearInterval(timer));
}
