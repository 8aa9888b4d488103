/**
 * The minimal gateway in Node, as a baseline: `node:http` and undici's `dispatch`, which pass bytes on as they arrive.
 * It has no keys, checks, limits or log. Runs as a separate process that takes the upstream's origin and prints its
 * port.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool, type Dispatcher } from "undici";

const pool = new Pool(process.argv[2]!, { connections: 1024, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    let controller: Dispatcher.DispatchController | undefined;
    response.on("close", () => {
      if (!response.writableFinished) controller?.abort(new Error("the client disconnected"));
    });
    pool.dispatch(
      {
        method: "POST",
        path: request.url!,
        headers: ["content-type", "application/json"],
        body: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces),
      },
      {
        onRequestStart(started) {
          controller = started;
        },
        onResponseStart(_controller, status, headers) {
          const { "content-type": type, "content-length": length } = headers;
          response.writeHead(status, {
            "content-type": String(type),
            ...(length === undefined ? {} : { "content-length": String(length) }),
          });
        },
        onResponseData(controller, bytes) {
          if (response.write(bytes)) return;
          controller.pause();
          response.once("drain", () => controller.resume());
        },
        onResponseEnd() {
          response.end();
        },
        onResponseError() {
          response.destroy();
        },
      },
    );
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.on("SIGTERM", () => process.exit());
