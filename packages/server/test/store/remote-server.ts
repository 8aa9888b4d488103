/**
 * Simulates a remote ClickHouse server: the embedded engine behind TCP, with a real server's additional behavior: it
 * checks the user, and accepts and sends compressed bodies.
 */
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import { startEngineProcess } from "../../src/store/embedded/engine-process.ts";
import { spoolFileParameter, withSpoolFile } from "../../src/store/embedded/spool-file.ts";
import { temporaryDirectory } from "./test-store.ts";

export interface RemoteServer extends AsyncDisposable {
  readonly url: string;
  /** Requests that had a compressed body, and answers that were compressed. */
  readonly compressed: { requests: number; answers: number };
  /** Answers every request with 503 while true. */
  down: boolean;
}

export const remotePassword = "a password of the test";

/** @param configuration a file of the server's configuration, given the folder of the server */
export async function startRemoteServer({
  host = "127.0.0.1",
  configuration,
}: { readonly host?: string; readonly configuration?: (directory: string) => string } = {}): Promise<RemoteServer> {
  const directory = await temporaryDirectory();
  if (configuration !== undefined) {
    // ClickHouse merges the files of this folder into `data.xml`.
    await mkdir(join(directory, "data.d"));
    await writeFile(join(directory, "data.d", "more.xml"), configuration(directory));
  }
  const socketPath = join(directory, "s.sock");
  const spoolDirectory = join(directory, "spool");
  const engine = await startEngineProcess({
    dataDirectory: join(directory, "data"),
    spoolDirectory,
    socketPath,
    memoryBytes: 1_000_000_000,
  });
  const compressed = { requests: 0, answers: 0 };
  const forwardTo = async (method: string, path: string, body: Buffer): Promise<IncomingMessage> => {
    const upstream = forward({ socketPath, method, path });
    const answered = once(upstream, "response") as Promise<[IncomingMessage]>;
    upstream.end(body);
    return (await answered)[0];
  };
  /** A real server accepts rows in the body, and filters them with `input()`; the engine's process reads them from a file. */
  const ask = async (method: string, path: string, body: Buffer): Promise<IncomingMessage> => {
    const search = new URLSearchParams(path.slice(2));
    const query = search.get("query");
    if (query === null) return await forwardTo(method, path, body);
    return await withSpoolFile(spoolDirectory, [body], (name) => {
      if (!query.includes("FROM input("))
        return forwardTo(method, `${path}&${spoolFileParameter}=${name}`, Buffer.alloc(0));
      const text = query
        .replace("input({structure:String})", `file('${join(spoolDirectory, name)}', 'Native', {structure:String})`)
        .replace(/ FORMAT Native$/, "");
      search.delete("query");
      return forwardTo(method, `/?${search.toString()}`, Buffer.from(text));
    });
  };
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (remote.down || incoming.headers["x-clickhouse-key"] !== remotePassword) {
      incoming.resume();
      const code = remote.down ? {} : { "x-clickhouse-exception-code": "516" };
      outgoing.writeHead(remote.down ? 503 : 403, code).end("Code: 516. (AUTHENTICATION_FAILED)");
      return;
    }
    const isCompressed = incoming.headers["content-encoding"] === "zstd";
    if (isCompressed) compressed.requests += 1;
    const body = await buffer(isCompressed ? incoming.pipe(createZstdDecompress()) : incoming);
    const answer = await ask(incoming.method ?? "GET", incoming.url ?? "/", body);
    const code = answer.headers["x-clickhouse-exception-code"];
    const headers = code === undefined ? {} : { "x-clickhouse-exception-code": code };
    if (incoming.headers["accept-encoding"] === "zstd") {
      compressed.answers += 1;
      outgoing.writeHead(answer.statusCode!, { ...headers, "content-encoding": "zstd" });
      await pipeline(answer, createZstdCompress(), outgoing);
    } else {
      outgoing.writeHead(answer.statusCode!, headers);
      await pipeline(answer, outgoing);
    }
  };
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, host);
  await once(server, "listening");
  const remote: RemoteServer = {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    compressed,
    down: false,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await engine.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
  return remote;
}
