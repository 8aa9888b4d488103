/** Watches connections for clients that close one direction or both, and for more pipelined requests than are served. */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { inputLimit } from "../input-limits.ts";

const maxPipelined = inputLimit({
  area: "HTTP",
  bounds: "Requests of one connection that wait for their answers (pipelining)",
  value: 64,
  error: { instead: "the connection is closed" },
});
/** When a client that said it sends no more is probed: soon, since a call may be at work for nobody, then now and then. */
const probeMs = { first: 50, later: 1_000 };

export class Connections {
  /** Answers that are not out, by connection, in the order of their requests. */
  readonly #waiting = new WeakMap<Socket, Set<ServerResponse>>();

  /** To be called before the server listens. */
  watch(server: Server): void {
    // Without it Node closes the connection when the client has sent all that it wants to send.
    (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
    server.on("connection", (socket) => {
      const waiting = new Set<ServerResponse>();
      this.#waiting.set(socket, waiting);
      socket.once("end", () => probe(socket, waiting, probeMs.first));
    });
  }

  /** Counts a request until its answer is out. @returns false, and closes the connection, when it has too many already */
  admit(response: ServerResponse): boolean {
    const { socket } = response.req;
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) return true;
    if (waiting.size >= maxPipelined) {
      socket.destroy();
      return false;
    }
    waiting.add(response);
    response.once("close", () => waiting.delete(response));
    return true;
  }
}

/**
 * A client that sends no more may wait for its answer or be gone, which looks the same until something is sent to it: an
 * interim answer, which every client must be ready for. If it is gone, its system resets the connection, and the
 * request is aborted. An answer that has begun shows by itself whether someone reads it; a client that ends its
 * direction only then has left.
 */
function probe(socket: Socket, waiting: ReadonlySet<ServerResponse>, delayMs: number): void {
  const [next] = waiting;
  if (next === undefined || socket.destroyed) return;
  if (next.headersSent) {
    if (!next.writableEnded) socket.destroy();
    return;
  }
  // HTTP/1.0 has no interim answers.
  if (next.req.httpVersionMinor === 0) return;
  next.writeContinue();
  setTimeout(() => probe(socket, waiting, probeMs.later), delayMs).unref();
}
