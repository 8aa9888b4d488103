/** Binds the HTTP server to its address, and to both loopback addresses where the host is `localhost`. */
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import type { Server } from "node:http";
import { createServer, type AddressInfo, type Server as SocketServer } from "node:net";
import { AppError } from "../errors.ts";

export interface Listener {
  readonly host: string;
  readonly port: number;
  /** Stops accepting. Resolves when all connections are closed; idle ones are closed at once. */
  close(): Promise<void>;
}

/** All addresses of a host. */
type Lookup = (host: string) => Promise<readonly string[]>;

const lookUp: Lookup = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** @throws AppError internal, with what to do, when the address cannot be used */
export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  addressesOf: Lookup = lookUp,
): Promise<Listener> {
  await bind(server, host, port).catch((error: unknown) => {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    const reason = listenFailures[code] ?? (error instanceof Error ? error.message : String(error));
    const message = `The server cannot listen on ${host}, port ${port}: ${reason}. See server.host and server.port.`;
    throw new AppError("internal", message, { cause: error });
  });
  const bound = server.address() as AddressInfo;
  const others = host === "localhost" ? await bindOthers(server, bound, await addressesOf(host).catch(() => [])) : [];
  return {
    host: bound.address,
    port: bound.port,
    close: async () => void (await Promise.all([server, ...others].map(closed))),
  };
}

/** Node binds one address of a name; clients on this machine may try the other one, ::1 or 127.0.0.1, alone. */
async function bindOthers(server: Server, bound: AddressInfo, addresses: readonly string[]): Promise<SocketServer[]> {
  const others = new Set(addresses.filter((address) => address !== bound.address));
  const listeners = [...others].map(async (address) => {
    // The options that Node's HTTP server gives to its own connections.
    const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit("connection", socket));
    try {
      await bind(other, address, bound.port);
      return [other];
    } catch {
      // The machine may have only one of the two; the server listens already.
      return [];
    }
  });
  return (await Promise.all(listeners)).flat();
}

async function bind(server: SocketServer, host: string, port: number): Promise<void> {
  server.listen({ host, port });
  await once(server, "listening");
}

function closed(server: SocketServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

const listenFailures: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses this port",
  EACCES: "this user may not use this port",
  EADDRNOTAVAIL: "this machine does not have the address",
  ENOTFOUND: "this host does not exist",
};
