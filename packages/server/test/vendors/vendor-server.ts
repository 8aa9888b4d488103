/** A local server with a vendor's protocol: it records requests and replays prepared responses. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** JSON of unknown shape, to be inspected and compared. */
export interface Wire {
  readonly [name: string]: Wire | undefined;
}

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Wire | undefined;
  /** Resolves when the caller has closed the connection before the answer's end. */
  readonly aborted: Promise<void>;
}

/** Writes the answer to one request; a response that it does not end stays open. */
export type Reply = (response: ServerResponse, request: ReceivedRequest) => void | Promise<void>;

export interface VendorServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** The replies to the next requests; the last one is repeated. */
  play(...replies: Reply[]): void;
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  const aborted = new Promise<void>((resolve) => {
    response.once("close", () => {
      if (!response.writableFinished) resolve();
    });
  });
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    body: text === "" ? undefined : (JSON.parse(text) as Wire),
    aborted,
  };
}

export async function startVendorServer(): Promise<VendorServer> {
  const requests: ReceivedRequest[] = [];
  let replies: Reply[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const received = await receive(request, response);
    requests.push(received);
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    if (reply === undefined) throw new Error("No reply was prepared.");
    await reply(response, received);
  };
  const server: Server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play(...next) {
      replies = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };

/** Server-sent events; a string is a literal frame. The stream stays open with `open`, is cut with `cut`. */
export function events(frames: readonly unknown[], end: "end" | "open" | "cut" = "end"): Reply {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const frame of frames) {
      const text = typeof frame === "string" ? frame : toEvent(frame as Record<string, unknown>);
      response.write(text);
      // Yields a turn of the loop, so that frames arrive separately as from a model.
      await delay(1);
    }
    if (end === "end") response.end();
    if (end === "cut") response.destroy();
  };
}

function toEvent(frame: Record<string, unknown>): string {
  const name = typeof frame["type"] === "string" ? `event: ${frame["type"]}\n` : "";
  return `${name}data: ${JSON.stringify(frame)}\n\n`;
}

/** Raw bytes, for framings other than server-sent events. */
export function bytes(contentType: string, chunks: readonly Uint8Array[], end: "end" | "open" | "cut" = "end"): Reply {
  return async (response) => {
    response.writeHead(200, { "content-type": contentType, "x-amzn-requestid": "request-1" });
    for (const chunk of chunks) {
      response.write(chunk);
      await delay(1);
    }
    if (end === "end") response.end();
    if (end === "cut") response.destroy();
  };
}

/** Never answers. */
export const silent: Reply = () => {};
