/**
 * Bounds the connections of a server, in total and per client, whatever they speak: each holds a file descriptor before a byte
 * has arrived. Connections beyond a limit are closed at once.
 */
import { readFileSync } from "node:fs";
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { Amounts } from "../amounts.ts";
import type { Logger } from "../logger.ts";
import { clientNetwork, createTrusts } from "./client-address.ts";

export interface ConnectionSettings {
  readonly max_connections: number;
  readonly max_connections_per_client: number;
  readonly trusted_proxies: readonly string[];
}

/** Descriptors for files, the store, engines and databases. */
const reservedDescriptors = 256;
/** One client must leave some for the others, also where the process may open few files. */
const clientShare = 1 / 2;
const warningIntervalMs = 10_000;

export class ConnectionLimits {
  readonly #most: number;
  readonly #mostPerClient: number;
  readonly #trusts: (address: string | undefined) => boolean;
  readonly #logger: Pick<Logger, "warn">;
  readonly #byClient = new Amounts();
  readonly #counted = new WeakSet<Socket>();
  #count = 0;
  #refused = 0;
  #refusedSinceWarning = 0;
  #warnedMs = Number.NEGATIVE_INFINITY;

  constructor(settings: ConnectionSettings, logger: Pick<Logger, "warn">) {
    const descriptors = Math.max(reservedDescriptors, descriptorLimit() - reservedDescriptors);
    this.#most = Math.min(settings.max_connections, descriptors);
    this.#mostPerClient = Math.min(settings.max_connections_per_client, Math.ceil(this.#most * clientShare));
    this.#trusts = createTrusts(settings.trusted_proxies);
    this.#logger = logger;
  }

  /** Connections that are open. */
  get count(): number {
    return this.#count;
  }

  /** Connections that were refused since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Call it after all listeners for connections have been added, and before the server listens. */
  guard(server: EventEmitter): void {
    const listeners = server.listeners("connection");
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      if (!this.#admit(socket)) socket.destroy();
      else for (const listener of listeners) Reflect.apply(listener, server, [socket]);
    });
  }

  /** Counts the connection until it closes. */
  #admit(socket: Socket): boolean {
    // A server may have accepted it for another one.
    if (this.#counted.has(socket)) return true;
    const client = clientNetwork(socket.remoteAddress ?? "");
    // A proxy's connections are those of many clients.
    const own = this.#trusts(socket.remoteAddress) ? 0 : 1;
    const isClientFull = own === 1 && this.#byClient.of(client) >= this.#mostPerClient;
    if (isClientFull || this.#count >= this.#most) {
      this.#refuse(isClientFull ? client : undefined);
      return false;
    }
    this.#counted.add(socket);
    this.#count += 1;
    this.#byClient.add(client, own);
    socket.once("close", () => {
      this.#count -= 1;
      this.#byClient.remove(client, own);
    });
    return true;
  }

  #refuse(client: string | undefined): void {
    this.#refused += 1;
    this.#refusedSinceWarning += 1;
    const nowMs = performance.now();
    if (nowMs - this.#warnedMs < warningIntervalMs) return;
    this.#warnedMs = nowMs;
    this.#logger.warn(
      { connections: this.#count, refused: this.#refusedSinceWarning, client_address: client },
      client === undefined
        ? `connections are refused: ${this.#most} are open, which is the limit of server.max_connections or of the process's open files`
        : `connections are refused: a client has ${this.#mostPerClient} open, which is the limit of server.max_connections_per_client`,
    );
    this.#refusedSinceWarning = 0;
  }
}

/** How many files the process may open; Infinity where the system does not tell. */
function descriptorLimit(): number {
  try {
    // https://man7.org/linux/man-pages/man5/proc_pid_limits.5.html
    const soft = /^Max open files\s+(?<soft>\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.groups?.["soft"];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
