/**
 * An HTTP server that a test controls: it stalls, cuts, garbles, drips and floods as its script says, and
 * counts what clients do to it. It never waits for time to pass; tests wait for conditions with `until`.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** What the server does with a request. Throwing fails the answer with status 500 and is recorded in `faults`. */
export type Script = (exchange: ScriptedExchange) => Promise<void> | void;

export interface ScriptedUpstream {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  readonly url: string;
  /** Every request so far, in the order of arrival. */
  readonly exchanges: readonly ScriptedExchange[];
  /** Errors that scripts threw. */
  readonly faults: readonly unknown[];
  readonly openSockets: number;
  /** Requests whose client disconnected before the answer was complete. */
  readonly aborts: number;
  /** The behavior for the next requests. */
  script: Script;
  /** Waits until the condition holds; fails after `withinMs`. It is checked on every event of this server. */
  until(condition: () => boolean, what: string, withinMs?: number): Promise<void>;
  /** Ends every connection and the server. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** One request and its answer. */
export class ScriptedExchange {
  /** 0 for the first request of the server. */
  readonly index: number;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The client's, which tells connections apart. */
  readonly clientPort: number | undefined;
  /** Resolves when the answer has ended: complete, cut, or abandoned by the client. */
  readonly closed: Promise<void>;
  readonly #response: ServerResponse;

  constructor(index: number, request: IncomingMessage, { body, response }: { body: Buffer; response: ServerResponse }) {
    this.index = index;
    this.method = request.method ?? "";
    this.path = request.url ?? "";
    this.headers = request.headers;
    this.body = body;
    this.clientPort = request.socket.remotePort;
    this.#response = response;
    this.closed = new Promise<void>((resolve) => {
      response.once("close", resolve);
    });
  }

  get json(): unknown {
    return JSON.parse(this.body.toString());
  }

  /** Whether the connection is closed. */
  get gone(): boolean {
    return this.#response.destroyed || this.#response.closed;
  }

  /** Sends status and headers immediately. */
  begin(status: number, headers: Record<string, string> = {}): void {
    this.#response.writeHead(status, headers);
    this.#response.flushHeaders();
  }

  beginEvents(headers: Record<string, string> = {}): void {
    this.begin(200, { "content-type": "text/event-stream; charset=utf-8", ...headers });
  }

  /** A complete JSON answer. */
  answer(value: unknown, status = 200, headers: Record<string, string> = {}): void {
    this.#response.writeHead(status, { "content-type": "application/json", ...headers });
    this.#response.end(typeof value === "string" ? value : JSON.stringify(value));
  }

  /** Sends bytes; resolves when the client can accept more, or has disconnected. */
  async send(bytes: string | Uint8Array): Promise<void> {
    if (this.gone) return;
    if (!this.#response.write(bytes)) {
      await new Promise<void>((resolve) => {
        const proceed = (): void => {
          this.#response.off("drain", proceed).off("close", proceed);
          resolve();
        };
        this.#response.on("drain", proceed).on("close", proceed);
      });
    }
  }

  /** Each value as one event. */
  async sendEvents(...values: readonly unknown[]): Promise<void> {
    await this.send(values.map(toEvent).join(""));
  }

  /** Sends each piece as a separate TCP segment, after the previous one was sent. */
  async drip(pieces: Iterable<string | Uint8Array>): Promise<void> {
    for (const piece of pieces) {
      if (this.gone) return;
      await new Promise<void>((resolve) => {
        this.#response.write(piece, () => setImmediate(resolve));
      });
    }
  }

  /** Repeats the same bytes until the client disconnects, no faster than it reads. @returns bytes sent */
  async flood(bytes: string | Uint8Array): Promise<number> {
    let sent = 0;
    while (!this.gone) {
      await this.send(bytes);
      sent += Buffer.byteLength(bytes);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    return sent;
  }

  /** Bypasses HTTP's framing, for answers that are not HTTP. Resolves when the bytes were sent. */
  async raw(bytes: string | Uint8Array): Promise<void> {
    const { socket } = this.#response;
    if (socket === null) return;
    await new Promise<void>((resolve) => {
      socket.write(bytes, () => setImmediate(resolve));
    });
  }

  end(): void {
    this.#response.end();
  }

  /** Breaks the connection in the middle, with a reset. */
  cut(): void {
    this.#response.socket?.resetAndDestroy();
  }

  /** Does nothing until the client gives up. */
  async stall(): Promise<void> {
    await this.closed;
  }
}

/** One server-sent event; strings are sent unchanged. */
export function toEvent(value: unknown): string {
  return `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
}

/** @param options.keepAliveMs how long an idle connection is kept */
export async function startScriptedUpstream(
  script: Script,
  { host = "127.0.0.1", keepAliveMs }: { readonly host?: string; readonly keepAliveMs?: number } = {},
): Promise<ScriptedUpstream> {
  const exchanges: ScriptedExchange[] = [];
  const faults: unknown[] = [];
  const sockets = new Set<Socket>();
  const waiting = new Set<() => void>();
  let aborts = 0;
  const changed = (): void => {
    for (const check of waiting) check();
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.once("close", () => {
      if (!response.writableFinished) aborts++;
      changed();
    });
    const body: Buffer[] = [];
    try {
      for await (const bytes of request) body.push(bytes as Buffer);
      const exchange = new ScriptedExchange(exchanges.length, request, { body: Buffer.concat(body), response });
      exchanges.push(exchange);
      changed();
      await upstream.script(exchange);
    } catch (error) {
      // The client may disconnect while it sends, which is not a fault of the script.
      if (response.destroyed) return;
      faults.push(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    }
  };
  const server = createServer((request, response) => void serve(request, response));
  if (keepAliveMs !== undefined) server.keepAliveTimeout = keepAliveMs;
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => {
      sockets.delete(socket);
      changed();
    });
    changed();
  });
  server.listen(0, host);
  await once(server, "listening");
  const close = async (): Promise<void> => {
    if (server.listening) {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    }
    assert.deepEqual(faults, [], "a script failed");
  };
  const upstream: ScriptedUpstream = {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    exchanges,
    faults,
    get openSockets() {
      return sockets.size;
    },
    get aborts() {
      return aborts;
    },
    script,
    until: (condition, what, withinMs = 10_000) => waitUntil(condition, { what, withinMs, waiting }),
    close,
    [Symbol.asyncDispose]: close,
  };
  return upstream;
}

async function waitUntil(
  condition: () => boolean,
  { what, withinMs, waiting }: { what: string; withinMs: number; waiting: Set<() => void> },
): Promise<void> {
  if (condition()) return;
  await new Promise<void>((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      clearInterval(poll);
      waiting.delete(check);
      settle();
    };
    const check = (): void => {
      if (condition()) end(resolve);
    };
    const timer = setTimeout(() => end(() => reject(new Error(`waited ${withinMs} ms in vain: ${what}`))), withinMs);
    // Conditions may also depend on things outside this server.
    const poll = setInterval(check, 20);
    waiting.add(check);
  });
}
