/**
 * Pools connections to one origin: kept alive, limited in number, with a bounded queue. Built on undici's `Pool.dispatch`,
 * the cheapest way to send a request from Node. https://undici.nodejs.org/#/docs/api/Pool
 */
import { buildConnector, Pool } from "undici";
import { UpstreamRequest, concurrencyExceeded, type OutgoingRequest } from "./upstream-request.ts";
import type { ResponseReader } from "./response-reader.ts";
import { abortReason } from "../../abort.ts";
import { engineClosing } from "./transport-error.ts";
import { DeadlineWatch } from "./time-limits.ts";

export interface ConnectionPoolOptions {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly maxConnections: number;
  readonly maxQueued: number;
  /** Longest time in the queue. */
  readonly queueTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Called when the engine refuses the operator's key or account, which callers cannot fix; at most once a minute. */
  onCredentialsRefused(status: number): void;
}

const reportIntervalMs = 60_000;

export class ConnectionPool {
  readonly queueTimeoutMs: number;
  readonly #options: ConnectionPoolOptions;
  readonly #pool: Pool;
  readonly #watch = new DeadlineWatch();
  readonly #queue = new Set<UpstreamRequest>();
  #running = 0;
  #longestConnectTimeoutMs: number;
  #connector: buildConnector.connector;
  #isClosed = false;
  #toldMs = -Infinity;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
    this.queueTimeoutMs = options.queueTimeoutMs;
    this.#longestConnectTimeoutMs = options.connectTimeoutMs;
    this.#connector = connectorFor(options.connectTimeoutMs);
    this.#pool = new Pool(options.origin, {
      connections: options.maxConnections,
      pipelining: 1,
      // The request has its own timeouts, which distinguish a frame from a heartbeat.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (connect, callback) => this.#connector(connect, callback),
    });
  }

  /** Raises the time after which a socket that is still connecting is closed; a target may have a longer timeout than its engine. */
  raiseConnectTimeout(connectTimeoutMs: number): void {
    if (connectTimeoutMs <= this.#longestConnectTimeoutMs) return;
    this.#longestConnectTimeoutMs = connectTimeoutMs;
    this.#connector = connectorFor(connectTimeoutMs);
  }

  /** Sends a request as soon as a connection is free, and passes its response to the reader. */
  open(request: OutgoingRequest, reader: ResponseReader): UpstreamRequest {
    const upstreamRequest = new UpstreamRequest(request, reader, this);
    if (request.signal.aborted) upstreamRequest.refuse(abortReason(request.signal));
    else if (this.#isClosed) upstreamRequest.refuse(engineClosing());
    else if (this.#running < this.#options.maxConnections) this.#run(upstreamRequest);
    else if (this.#queue.size >= this.#options.maxQueued) upstreamRequest.refuse(concurrencyExceeded());
    else {
      this.#queue.add(upstreamRequest);
      this.#watch.add(upstreamRequest);
    }
    return upstreamRequest;
  }

  #run(upstreamRequest: UpstreamRequest): void {
    this.#running++;
    this.#watch.add(upstreamRequest);
    upstreamRequest.start();
  }

  dispatch(upstreamRequest: UpstreamRequest): void {
    this.#pool.dispatch(upstreamRequest.dispatchOptions, upstreamRequest);
  }

  release(upstreamRequest: UpstreamRequest): void {
    this.#watch.remove(upstreamRequest);
    if (!upstreamRequest.hasStarted) {
      this.#queue.delete(upstreamRequest);
      return;
    }
    this.#running--;
    for (const next of this.#queue) {
      this.#queue.delete(next);
      this.#run(next);
      return;
    }
  }

  credentialsRefused(status: number): void {
    const nowMs = performance.now();
    if (nowMs - this.#toldMs < reportIntervalMs) return;
    this.#toldMs = nowMs;
    this.#options.onCredentialsRefused(status);
  }

  /** Refuses queued and new requests, lets running ones end, then closes the connections. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const upstreamRequest of this.#queue) upstreamRequest.refuse(engineClosing());
    await this.#pool.close();
  }
}

/** HTTP/1.1 only: one request per connection, so canceling closes only that connection, and a slow reader delays only itself. */
function connectorFor(timeout: number): buildConnector.connector {
  return buildConnector({ allowH2: false, timeout });
}
