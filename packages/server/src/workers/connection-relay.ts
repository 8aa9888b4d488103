/**
 * Hands the connections of the server's ports to the workers in turn. A worker gets the next one when it has taken the last one,
 * so that a busy worker gets fewer, and a connection on its way to a worker that dies goes to another.
 */
import type { Socket } from "node:net";
import type { RelayedPort } from "../http/listen.ts";
import type { PortName } from "./protocol.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Connections that wait for a worker, well below the limit on file descriptors. */
const mostWaiting = 1024;

interface Connection {
  readonly id: number;
  readonly port: PortName;
  readonly socket: Socket;
}

export class ConnectionRelay {
  /** Connections that no worker has been offered. */
  readonly #waiting: Connection[] = [];
  /** Workers that may get a connection, the one that waits longest first. */
  #free: WorkerProcess[] = [];
  /** On their way. A worker that hangs is killed, and then another one gets its connection; until then both could read it. */
  readonly #offered = new Map<WorkerProcess, Connection>();
  #lastId = 0;
  #isClosed = false;

  /** Takes the connections of a port. */
  addPort(name: PortName, port: RelayedPort): void {
    port.relay((socket) => {
      if (this.#isClosed || this.#waiting.length >= mostWaiting) return void socket.destroy();
      this.#waiting.push({ id: (this.#lastId += 1), port: name, socket });
      this.#offer();
    });
  }

  addWorker(worker: WorkerProcess): void {
    worker.channel.on("taken", (id) => {
      if (this.#offered.get(worker)?.id === id) this.#settle(worker);
    });
    this.#free.push(worker);
    this.#offer();
  }

  removeWorker(worker: WorkerProcess): void {
    this.#free = this.#free.filter((each) => each !== worker);
    const offered = this.#offered.get(worker);
    if (offered === undefined) return;
    this.#offered.delete(worker);
    this.#waiting.unshift(offered);
    this.#offer();
  }

  /** Ends the connections that no worker has. */
  close(): void {
    this.#isClosed = true;
    for (const { socket } of this.#waiting.splice(0)) socket.destroy();
  }

  #offer(): void {
    while (this.#waiting.length > 0 && this.#free.length > 0) {
      const connection = this.#waiting.shift()!;
      if (connection.socket.destroyed) continue;
      const worker = this.#free.shift()!;
      const { id, port, socket } = connection;
      this.#offered.set(worker, connection);
      worker.channel.hand("connection", { id, port }, socket);
    }
  }

  /** The worker has the connection: closes this process's share of it, and offers the next. */
  #settle(worker: WorkerProcess): void {
    this.#offered.get(worker)?.socket.destroy();
    this.#offered.delete(worker);
    this.#free.push(worker);
    this.#offer();
  }
}
