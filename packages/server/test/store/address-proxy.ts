/** An address that leads to a server, and can refuse connections or hang: accept bytes and answer nothing. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface AddressProxy extends AsyncDisposable {
  readonly url: string;
  /** Connections so far. */
  readonly connections: number;
  /** Breaks all connections, and refuses new ones. */
  goDown(): Promise<void>;
  /** Passes no more bytes, on old and new connections. */
  hang(): void;
  /** Serves again, at the same port. */
  heal(): Promise<void>;
}

export async function startAddressProxy(target: string): Promise<AddressProxy> {
  const { hostname, port: targetPort } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  const hung = new Set<Socket>();
  let isHanging = false;
  let connections = 0;
  const server = createServer((near) => {
    connections += 1;
    near.on("error", () => {});
    if (isHanging) {
      hung.add(near);
      near.resume();
      return;
    }
    const far = connect(Number(targetPort), hostname);
    far.on("error", () => near.destroy());
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far).pipe(near);
    for (const [one, other] of [pair, pair.toReversed() as [Socket, Socket]]) {
      one.once("close", () => {
        other.destroy();
        pairs.delete(pair);
      });
    }
  });
  const breakAll = (): void => {
    for (const socket of [...[...pairs].flat(), ...hung]) socket.destroy();
    hung.clear();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    breakAll();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    goDown: stop,
    hang() {
      isHanging = true;
      for (const pair of pairs) {
        for (const socket of pair) socket.unpipe();
        pair[1].resume();
        pair[0].resume();
      }
    },
    async heal() {
      isHanging = false;
      breakAll();
      if (server.listening) return;
      server.listen(port, "127.0.0.1");
      await once(server, "listening");
    },
    [Symbol.asyncDispose]: stop,
  };
}
