/** A server with one model file that truncates, lies, redirects and refuses as a test scripts it. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelServerBehavior {
  /** Ends the connection after this many bytes of an answer. */
  cutAfterBytes?: number;
  /** Added to the reported length. */
  lengthLie?: number;
  /** Refuses with this status, this many times. */
  refuse?: { status: number; times: number };
  /** Answers a range with the whole file. */
  ignoreRange?: boolean;
  /** Omits ETag and checksum. */
  anonymous?: boolean;
  /** Answers HEAD with 405. */
  noHead?: boolean;
  /** Stops sending after this many bytes, and keeps the connection. */
  stallAfterBytes?: number;
  /** A checksum that does not match the file. */
  wrongChecksum?: boolean;
}

export interface ModelServer {
  readonly url: string;
  /** Another origin that redirects everything to `url`, like the hub. */
  readonly hub: string;
  content: Buffer;
  behavior: ModelServerBehavior;
  readonly requests: { method: string; range: string | undefined; authorization: string | undefined; host: string }[];
  close(): Promise<void>;
}

export function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function serveFile(server: ModelServer, request: IncomingMessage, response: ServerResponse): void {
  const { content, behavior } = server;
  const range = behavior.ignoreRange === true ? undefined : request.headers.range;
  const start = Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0);
  if (start >= content.length) {
    response.writeHead(416, { "content-range": `bytes */${content.length}` }).end();
    return;
  }
  const body = content.subarray(start);
  response.writeHead(range === undefined ? 200 : 206, {
    "content-length": body.length + (behavior.lengthLie ?? 0),
    ...(behavior.anonymous === true ? {} : { etag: `"${sha256(content).slice(0, 16)}"` }),
    ...(range === undefined ? {} : { "content-range": `bytes ${start}-${content.length - 1}/${content.length}` }),
  });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  const limit = Math.min(behavior.cutAfterBytes ?? body.length, behavior.stallAfterBytes ?? body.length);
  response.write(body.subarray(0, limit), () => {
    if (behavior.stallAfterBytes !== undefined && limit < body.length) return;
    if (limit < body.length || behavior.lengthLie !== undefined) response.destroy();
    else response.end();
  });
}

function refuses({ behavior }: ModelServer, request: IncomingMessage, response: ServerResponse): boolean {
  const refusal = behavior.refuse;
  if (behavior.noHead === true && request.method === "HEAD") {
    response.writeHead(405).end();
    return true;
  }
  if (refusal === undefined || refusal.times <= 0) return false;
  refusal.times--;
  response.writeHead(refusal.status).end("refused");
  return true;
}

export async function startModelServer(content: Buffer): Promise<ModelServer> {
  const requests: ModelServer["requests"] = [];
  const note = ({ method, headers }: IncomingMessage): void => {
    requests.push({
      method: method ?? "",
      range: headers.range,
      authorization: headers.authorization,
      host: headers.host ?? "",
    });
  };
  const files = createServer((request, response) => {
    note(request);
    if (!refuses(server, request, response)) serveFile(server, request, response);
  });
  const hub = createServer((request, response) => {
    note(request);
    const facts = server.behavior.anonymous === true ? {} : checksumHeaders(server);
    response.writeHead(302, { location: `${server.url}${request.url}`, ...facts }).end();
  });
  for (const each of [files, hub]) {
    each.listen(0, "127.0.0.1");
    await once(each, "listening");
  }
  const originOf = (each: typeof files): string => `http://127.0.0.1:${(each.address() as AddressInfo).port}`;
  const server: ModelServer = {
    url: originOf(files),
    hub: originOf(hub),
    content,
    behavior: {},
    requests,
    async close() {
      for (const each of [files, hub]) {
        each.closeAllConnections();
        each.close();
        await once(each, "close");
      }
    },
  };
  return server;
}

function checksumHeaders({ content, behavior }: ModelServer): Record<string, string> {
  const checksum = sha256(behavior.wrongChecksum === true ? Buffer.from("another file") : content);
  return { "x-linked-etag": `"${checksum}"`, "x-linked-size": String(content.length) };
}
