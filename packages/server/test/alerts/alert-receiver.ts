/** An HTTP server that records what it gets, and that can stall or fail. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- requests of tests are looked into freely
  readonly body: any;
}

export interface AlertReceiver extends AsyncDisposable {
  readonly url: string;
  readonly received: ReceivedRequest[];
  /** The status of responses; `stall` sends none. */
  behavior: number | "stall";
  /** Requests that get 500. */
  refuses: (request: ReceivedRequest) => boolean;
}

export async function startReceiver(): Promise<AlertReceiver> {
  const received: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const seen = { path: request.url!, headers: request.headers, text, body: JSON.parse(text) };
      received.push(seen);
      if (receiver.behavior === "stall") return;
      response.statusCode = receiver.refuses(seen) ? 500 : receiver.behavior;
      if (receiver.behavior === 302) response.setHeader("location", "/elsewhere");
      response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: AlertReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    behavior: 200,
    refuses: () => false,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}
