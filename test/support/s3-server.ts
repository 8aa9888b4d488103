/**
 * S3-compatible storage for tests: moto, behind an endpoint that checks signatures and the hash of each body, and can fail in the ways
 * of a network.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { isSignedWith } from "./s3-signature.ts";
import { python } from "./needs.ts";

export const credentials = { id: "AKIDTEST", secret: "secret/of+the=test", token: "token-of-the-test" } as const;

export interface Exchange {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Answers instead of the storage, or changes its answer; undefined: the storage answers. */
type Fault = (
  exchange: Exchange,
  response: ServerResponse,
  forward: () => Promise<{ status: number; headers: IncomingMessage["headers"]; body: Buffer }>,
) => Promise<boolean> | boolean;

export interface S3Server extends AsyncDisposable {
  readonly endpoint: string;
  /** All requests that had a valid signature. */
  readonly exchanges: Exchange[];
  fault: Fault | undefined;
  createBucket(name: string): Promise<void>;
  keys(bucket: string): Promise<string[]>;
  /** The number of multipart uploads that are neither complete nor aborted. */
  uploads(bucket: string): Promise<number>;
  /** Writes an object without the endpoint's checks. */
  put(path: string, body: string | Buffer): Promise<void>;
  get(path: string): Promise<Buffer>;
}

export function sendError(
  response: ServerResponse,
  status: number,
  code: string,
  headers: Record<string, string> = {},
): true {
  response.writeHead(status, { "content-type": "application/xml", ...headers });
  response.end(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>As the test says.</Message></Error>`,
  );
  return true;
}

export async function startS3Server(): Promise<S3Server> {
  const moto = spawn(python, ["-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    let text = "";
    const read = (chunk: Buffer): void => {
      text += chunk.toString("utf8");
      const found = /Running on http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
      if (found !== null) resolve(Number(found[1]));
    };
    moto.stdout.on("data", read);
    moto.stderr.on("data", read);
    moto.once("exit", () => reject(new Error(`moto ended: ${text}`)));
  });
  const direct = `http://127.0.0.1:${port}`;
  const authorization =
    "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0";
  const ask = async (path: string, init: RequestInit = {}): Promise<Buffer> => {
    const response = await fetch(`${direct}${path}`, { ...init, headers: { authorization } });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return Buffer.from(await response.arrayBuffer());
  };

  const server: S3Server = {
    endpoint: "",
    exchanges: [],
    fault: undefined,
    createBucket: async (name) => void (await ask(`/${name}`, { method: "PUT" })),
    keys: async (bucket) =>
      [...(await ask(`/${bucket}?list-type=2`)).toString("utf8").matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key!),
    uploads: async (bucket) => (await ask(`/${bucket}?uploads`)).toString("utf8").split("<UploadId>").length - 1,
    put: async (path, body) =>
      void (await ask(path, { method: "PUT", body: new Uint8Array(Buffer.from(body as Buffer)) })),
    get: (path) => ask(path),
    async [Symbol.asyncDispose]() {
      front.closeAllConnections();
      front.close();
      moto.kill("SIGKILL");
      if (moto.exitCode === null && moto.signalCode === null) await once(moto, "exit");
    },
  };

  const front = createServer((incoming, response) => {
    void answer(incoming, response).catch(() => response.destroy());
  });
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { headers, method = "", url = "" } = incoming;
    // As a proxy, the endpoint gets whole URLs.
    const target = url.replace(/^http:\/\/[^/]+/, "");
    const body = await buffer(incoming);
    if (
      !isSignedWith({ method, target, headers }, credentials.secret) ||
      headers["x-amz-security-token"] !== credentials.token
    )
      return void sendError(response, 403, "SignatureDoesNotMatch");
    if (headers["x-amz-content-sha256"] !== createHash("sha256").update(body).digest("hex"))
      return void sendError(response, 400, "XAmzContentSHA256Mismatch");
    const md5 = headers["content-md5"];
    if (md5 !== undefined && md5 !== createHash("md5").update(body).digest("base64"))
      return void sendError(response, 400, "BadDigest");
    const exchange = { method, target, headers, body };
    server.exchanges.push(exchange);
    const forward = async (): ReturnType<Parameters<Fault>[2]> => {
      const outgoing = request(`${direct}${target}`, { method, headers: { ...headers, host: `127.0.0.1:${port}` } });
      outgoing.end(body);
      const [found] = (await once(outgoing, "response")) as [IncomingMessage];
      return { status: found.statusCode!, headers: found.headers, body: await buffer(found) };
    };
    if ((await server.fault?.(exchange, response, forward)) === true) return;
    const found = await forward();
    const { "transfer-encoding": _chunked, connection: _connection, ...kept } = found.headers;
    response.writeHead(found.status, { ...kept, "content-length": found.body.length });
    response.end(found.body);
  };
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  Object.assign(server, { endpoint: `http://127.0.0.1:${(front.address() as AddressInfo).port}` });
  return server;
}
