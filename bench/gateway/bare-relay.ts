/**
 * The least that a gateway in Node can do, as a yardstick: `node:http` and undici's `dispatch`, bytes passed on as they
 * come. No key, no check, no limit, no log. A process of its own; takes the upstream's origin, prints its port.
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
      if (!response.writableFinished) controller?.abort(new Error("the client left"));
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
