/** Binds the HTTP server's address before there is a server, and to both loopback addresses where the host is `localhost`. */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { Server } from "node:http";
import { createServer, isIPv6, type AddressInfo, type Server as SocketServer, type Socket } from "node:net";
import { AppError } from "../errors.ts";

/** A port that this process has bound. Connections wait until a server takes them. */
export interface BoundPort {
  readonly host: string;
  readonly port: number;
  /** Gives the server the connections, from the first one on. */
  serve(server: Server): Promise<void>;
  /** Stops accepting. Resolves when all connections are closed; idle ones are closed at once. */
  close(): Promise<void>;
}

/** All addresses of a host. */
type Lookup = (host: string) => Promise<readonly string[]>;

const lookUp: Lookup = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A port that this process has bound, and whose connections other processes serve. */
export interface RelayedPort extends Address {
  /** Passes on the connections, from the first one on. Nothing has been read from them. */
  relay(take: (socket: Socket) => void): void;
  /** Stops accepting. Connections that were not passed on are closed. */
  close(): Promise<void>;
}

interface Listeners extends Address {
  readonly first: SocketServer;
  readonly others: readonly SocketServer[];
  readonly waiting: Socket[];
  setTake(take: (socket: Socket) => void): void;
}

/** @throws AppError internal, with what to do, when the address cannot be used */
async function listen(
  { host, port }: Address,
  { addressesOf, isPaused }: { readonly addressesOf: Lookup; readonly isPaused: boolean },
): Promise<Listeners> {
  const waiting: Socket[] = [];
  let take = (socket: Socket): void => {
    // A client that gives up while it waits; the server has its own listener.
    socket.on("error", () => {});
    waiting.push(socket);
  };
  // The options that Node's HTTP server gives to its own connections.
  const options = { allowHalfOpen: true, noDelay: true, pauseOnConnect: isPaused };
  const create = (): SocketServer => createServer(options, (socket) => take(socket));
  const first = create();
  await bind(first, { host, port }).catch(async (error: unknown) => {
    const message = `The server cannot listen on ${host}, port ${port}: ${await reasonOf(error, { host, port })}`;
    throw new AppError("internal", message, { cause: error });
  });
  const bound = first.address() as AddressInfo;
  const others = host === "localhost" ? await bindOthers(bound, await addressesOf(host).catch(() => []), create) : [];
  return { host: bound.address, port: bound.port, first, others, waiting, setTake: (next) => (take = next) };
}

/** @throws AppError internal, with what to do, when the address cannot be used */
export async function bindPort(address: Address, addressesOf: Lookup = lookUp): Promise<BoundPort> {
  const { host, port, first, others, waiting, setTake } = await listen(address, { addressesOf, isPaused: false });
  let listeners = [first, ...others];
  return {
    host,
    port,
    async serve(server) {
      // The server takes over the handle, and with it `first`'s connections.
      server.listen(first);
      await once(server, "listening");
      listeners = [server, ...others];
      const take = (socket: Socket): void => void server.emit("connection", socket);
      setTake(take);
      for (const socket of waiting.splice(0)) if (!socket.destroyed) take(socket);
    },
    async close() {
      for (const socket of waiting) socket.destroy();
      await Promise.all(listeners.map(closed));
    },
  };
}

/** @throws AppError internal, with what to do, when the address cannot be used */
export async function bindRelayedPort(address: Address): Promise<RelayedPort> {
  const { host, port, first, others, waiting, setTake } = await listen(address, {
    addressesOf: lookUp,
    isPaused: true,
  });
  return {
    host,
    port,
    relay(take) {
      setTake((socket) => {
        socket.on("error", () => {});
        take(socket);
      });
      for (const socket of waiting.splice(0)) take(socket);
    },
    async close() {
      for (const socket of waiting.splice(0)) socket.destroy();
      // The listeners are closed at once. That their connections end is the other processes' concern.
      for (const listener of [first, ...others]) listener.close();
    },
  };
}

/** Node binds one address of a name; clients on this machine may try the other one, ::1 or 127.0.0.1, alone. */
async function bindOthers(
  bound: AddressInfo,
  addresses: readonly string[],
  create: () => SocketServer,
): Promise<SocketServer[]> {
  const others = new Set(addresses.filter((address) => address !== bound.address));
  const listeners = [...others].map(async (address) => {
    const other = create();
    try {
      await bind(other, { host: address, port: bound.port });
      return [other];
    } catch {
      // The machine may have only one of the two; the server listens already.
      return [];
    }
  });
  return (await Promise.all(listeners)).flat();
}

async function bind(server: SocketServer, address: Address): Promise<void> {
  server.listen(address);
  await once(server, "listening");
}

function closed(server: SocketServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

/** Why the address cannot be used, and what to do. */
async function reasonOf(error: unknown, address: Address): Promise<string> {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const setHost = "Set another address with --host, server.host or SOUNDING_HOST.";
  switch (code) {
    case "EADDRINUSE": {
      const user = (await isSounding(address)) ? "another Sounding server answers there" : "another program uses it";
      return `${user}. Stop it, or set another port with --port, server.port or SOUNDING_PORT.`;
    }
    case "EACCES":
      return "this user may not use this port. Set a port above 1023 with --port, server.port or SOUNDING_PORT.";
    case "EADDRNOTAVAIL":
      return `this machine does not have the address. ${setHost}`;
    case "ENOTFOUND":
      return `this host does not exist. ${setHost}`;
    default:
      return `${error instanceof Error ? error.message : String(error)}. See server.host and server.port.`;
  }
}

/** The URL with which a client on this machine calls a server that listens on the address. */
export function reachableUrl({ host, port }: Address): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${isIPv6(name) ? `[${name}]` : name}:${port}`;
}

const probeTimeoutMs = 5_000;

async function isSounding({ host, port }: Address): Promise<boolean> {
  try {
    const response = await fetch(`${reachableUrl({ host, port })}/readyz`, {
      signal: AbortSignal.timeout(probeTimeoutMs),
    });
    const { checks } = (await response.json()) as { checks?: Record<string, unknown> };
    return typeof checks?.["control_database"] === "string";
  } catch {
    return false;
  }
}
