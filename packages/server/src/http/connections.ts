/** Detects clients that half-close or abandon their connection, and limits pipelining. */
import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { inputLimit } from "../input-limits.ts";

const maxPipelined = inputLimit({
  area: "HTTP",
  bounds: "Pipelined requests of one connection that wait for their responses",
  value: 64,
  error: { instead: "the connection is closed" },
});
/** How often a client that half-closed its connection is probed: soon at first, since its call may run in vain. */
const probeMs = { first: 50, later: 1_000 };

export class Connections {
  /** Unfinished responses by connection, in the order of their requests. */
  readonly #waiting = new WeakMap<Socket, Set<ServerResponse>>();

  /** Call it before the server listens. */
  watch(server: Server): void {
    // Otherwise Node closes the connection once the client has half-closed it.
    (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
    server.on("connection", (socket) => {
      const waiting = new Set<ServerResponse>();
      this.#waiting.set(socket, waiting);
      socket.once("end", () => probe(socket, waiting, probeMs.first));
    });
  }

  /** Counts a request until `leave`. @returns false, and closes the connection, when too many are waiting */
  admit(response: ServerResponse): boolean {
    const { socket } = response.req;
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) return true;
    if (waiting.size >= maxPipelined) {
      socket.destroy();
      return false;
    }
    waiting.add(response);
    return true;
  }

  /** Ends the count of a request that was admitted. */
  leave(response: ServerResponse): void {
    this.#waiting.get(response.req.socket)?.delete(response);
  }
}

/**
 * A client that half-closed its connection may be waiting or gone; only sending something shows which. So the server
 * sends an interim response, which every client must accept. If the client is gone, its system resets the connection,
 * and the request is aborted. A client that half-closes while it receives a response counts as disconnected.
 */
function probe(socket: Socket, waiting: ReadonlySet<ServerResponse>, delayMs: number): void {
  const [next] = waiting;
  if (next === undefined || socket.destroyed) return;
  if (next.headersSent) {
    if (!next.writableEnded) socket.destroy();
    return;
  }
  // HTTP/1.0 has no interim responses.
  if (next.req.httpVersionMinor === 0) return;
  next.writeContinue();
  setTimeout(() => probe(socket, waiting, probeMs.later), delayMs).unref();
}
