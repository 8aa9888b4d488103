/**
 * Recognizes HTTP/2 connections without TLS by the bytes that they begin with ("prior knowledge"), so that gRPC and HTTP/1.1
 * share a port. https://www.rfc-editor.org/rfc/rfc9113#section-3.3
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

export interface Http2Diversion {
  /** Takes over a connection that begins with the preface, none of whose bytes have been consumed. */
  readonly accept: (socket: Socket) => void;
  /** Time for a connection to send enough bytes to be recognized. */
  readonly timeoutMs: number;
}

/**
 * Call it after all listeners for connections have been added, and before the server listens.
 * @returns closes the connections that are not recognized yet
 */
export function divertHttp2(server: Server, { accept, timeoutMs }: Http2Diversion): () => void {
  const serveHttp1 = server.listeners("connection");
  const undecided = new Set<Socket>();
  const discard = (socket: Socket): void => void socket.destroy();

  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    const chunks: Buffer[] = [];
    const onEnd = (): void => discard(socket);
    const timer = setTimeout(discard, timeoutMs, socket).unref();
    const stop = (): void => {
      clearTimeout(timer);
      undecided.delete(socket);
      socket.off("data", onData).off("end", onEnd).off("error", onEnd).off("close", stop);
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      const start = chunks.length === 1 ? chunk : Buffer.concat(chunks);
      const compared = Math.min(start.length, preface.length);
      const isHttp2 = start.compare(preface, 0, compared, 0, compared) === 0;
      if (isHttp2 && start.length < preface.length) return;
      stop();
      // The next owner reads from the first byte, in this turn of the event loop, before more arrives.
      socket.pause();
      socket.unshift(start);
      if (isHttp2) accept(socket);
      else for (const serve of serveHttp1) Reflect.apply(serve, server, [socket]);
      process.nextTick(() => socket.resume());
    };
    undecided.add(socket);
    socket.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", stop);
  });
  return () => undecided.forEach(discard);
}
