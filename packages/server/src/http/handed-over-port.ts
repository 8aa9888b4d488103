/** A port that another process has bound, and of which this one gets some connections. */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Address, BoundPort } from "./listen.ts";

export class HandedOverPort implements BoundPort {
  readonly host: string;
  readonly port: number;
  readonly #open = new Set<Socket>();
  #waiting: Socket[] = [];
  #server: Server | undefined;
  #whenEmpty: (() => void) | undefined;

  constructor({ host, port }: Address) {
    this.host = host;
    this.port = port;
  }

  /** Serves a connection from which nothing has been read. */
  take(socket: Socket): void {
    // As for connections that Node's HTTP server accepts itself.
    socket.allowHalfOpen = true;
    this.#open.add(socket);
    socket.once("close", () => {
      this.#open.delete(socket);
      if (this.#open.size === 0) this.#whenEmpty?.();
    });
    if (this.#server === undefined) this.#waiting.push(socket);
    else this.#server.emit("connection", socket);
  }

  async serve(server: Server): Promise<void> {
    // Node begins with this event to watch the time limits of connections, and to know which are idle.
    server.emit("listening");
    this.#server = server;
    for (const socket of this.#waiting.splice(0)) server.emit("connection", socket);
  }

  async close(): Promise<void> {
    for (const socket of this.#waiting.splice(0)) socket.destroy();
    // Closes the idle connections; it does not know of the others, because it did not accept them.
    this.#server?.close();
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#whenEmpty = resolve));
  }
}
