/**
 * The HTTP server: routes each request, takes it through the steps of serve-request.ts, and closes in an orderly way.
 * docs/adr/0002-contract-and-http-server.md
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { IndexedSet } from "../indexed-set.ts";
import type { LogFields, Logger } from "../logger.ts";
import { MemoryBudget } from "../memory-budget.ts";
import type { AdmitRequest } from "./request-admission.ts";
import type { KeyCheck } from "./authenticate.ts";
import type { Sessions } from "./authenticate-session.ts";
import { findFramingError } from "./check-framing.ts";
import { BodyArrivals } from "./body-arrivals.ts";
import { createClientAddress } from "./client-address.ts";
import type { ClientLimits } from "./client-limits.ts";
import { refuseConnection } from "./connection-error.ts";
import { Connections } from "./connections.ts";
import { divertHttp2 } from "./http2-preface.ts";
import { createRouter, errorWriters, findEndpoint, refuse, socketRouteOf } from "./find-endpoint.ts";
import { bindPort, type BoundPort } from "./listen.ts";
import type { RequestAudit } from "./request-audit.ts";
import { createRequestOrigin } from "./request-origin.ts";
import { RequestContext, type FinishedRequest } from "./request-context.ts";
import type { Route } from "./route.ts";
import { setCommonHeaders, shutdownError } from "./serve-request.ts";
import type { ServeContext } from "./serve-context.ts";
import { createWebSocketUpgrades, type WebSocketUpgrades } from "./websocket-upgrades.ts";

/** The part of the server's settings that http needs. */
export interface HttpSettings {
  readonly host: string;
  readonly port: number;
  readonly cors_origins: readonly string[];
  readonly trusted_proxies: readonly string[];
  readonly max_header_bytes: number;
  readonly max_json_body_bytes: number;
  readonly max_json_values: number;
  readonly max_request_memory_bytes: number;
  readonly header_timeout_ms: number;
  readonly body_timeout_ms: number;
  readonly body_idle_timeout_ms: number;
  readonly keep_alive_timeout_ms: number;
  readonly status_hold_ms: number;
  readonly heartbeat_interval_ms: number;
  readonly shutdown_delay_ms: number;
  readonly shutdown_timeout_ms: number;
}

export interface HttpServerParts extends ClientLimits {
  readonly settings: HttpSettings;
  /** The port; absent: it is bound now. */
  readonly bound?: BoundPort | undefined;
  readonly routes: readonly Route[];
  readonly checkKey: KeyCheck;
  /** Absent: cookies are ignored. */
  readonly sessions?: Sessions | undefined;
  /** Absent: telemetry queries and exports have no limits. */
  readonly admitRequest?: AdmitRequest | undefined;
  /** Absent: nothing is recorded in an audit log. */
  readonly audit?: RequestAudit | undefined;
  readonly logger: Logger;
  /** Serves connections that begin with HTTP/2's preface. Absent: they are refused as malformed. */
  readonly http2?: Http2Server | undefined;
  /** Called when a request has ended; must not throw. */
  observe(context: FinishedRequest): void;
}

export interface Http2Server {
  accept(socket: Socket): void;
  /** Lets running calls end within the shutdown time, and closes the connections. */
  close(): Promise<void>;
}

export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /**
   * Accepts requests for the shutdown delay, with responses that close their connections. Then stops accepting, lets running
   * requests end within the shutdown time, and ends the others with an error.
   */
  close(): Promise<void>;
}

/** Time for clients to read the error that ended their request before their connection is closed. */
const forceCloseMs = 1000;

export async function startHttpServer(parts: HttpServerParts): Promise<HttpServer> {
  const { settings } = parts;
  let closing = false;
  let accepting = true;
  const serveContext: ServeContext = {
    ...parts,
    memory: new MemoryBudget(settings.max_request_memory_bytes),
    arrivals: new BodyArrivals(settings.body_idle_timeout_ms),
    originOf: createRequestOrigin(settings.trusted_proxies),
    isClosing: () => closing,
  };
  const clientAddressOf = createClientAddress(settings.trusted_proxies);
  const router = createRouter(parts.routes, serveContext);
  const writerOf = errorWriters(parts.routes);
  const upgrades = createWebSocketUpgrades({
    server: serveContext,
    routeOf: (request) => socketRouteOf(router, request),
    begin: (request, response, operation) => begin(request, response, operation),
  });
  const server = createNodeServer(settings, upgrades);
  const connections = new Connections();
  connections.watch(server);

  const open = new IndexedSet<RequestContext>();
  const onFinished = (context: RequestContext): void => {
    open.delete(context);
    finish(context, parts);
    // A connection that was busy when closing began may be idle now.
    if (!accepting) setImmediate(() => server.closeIdleConnections());
  };
  const begin = (request: IncomingMessage, response: ServerResponse, operation: string): RequestContext => {
    const clientAddress = clientAddressOf(request.socket, request.headers);
    const context = new RequestContext({ request, response, operation, clientAddress }, onFinished);
    // One listener for both, since every request pays for each.
    response.on("close", () => {
      connections.leave(response);
      context.closed();
    });
    open.add(context);
    setCommonHeaders(context, serveContext);
    return context;
  };
  server.on("request", (request, response) => {
    if (!connections.admit(response)) return;
    const { endpoint, path } = findEndpoint(router, request, writerOf);
    const context = begin(request, response, endpoint.operation);
    const fault = findFramingError(request);
    if (fault === undefined) endpoint.serve(context, path);
    else refuse(context, fault, { headers: { connection: "close" } });
  });

  const { http2 } = parts;
  const closeUndecided =
    http2 === undefined
      ? undefined
      : divertHttp2(server, { accept: (socket) => http2.accept(socket), timeoutMs: settings.header_timeout_ms });
  parts.connectionLimits.guard(server);
  const bound = parts.bound ?? (await bindPort(settings));
  await bound.serve(server);
  return {
    host: bound.host,
    port: bound.port,
    async close() {
      closing = true;
      if (settings.shutdown_delay_ms > 0) await delay(settings.shutdown_delay_ms);
      accepting = false;
      closeUndecided?.();
      const stop = (context: RequestContext): void => context.abort(shutdownError());
      // WebSockets do not end on their own.
      open.forEach((context) => context.response.statusCode === 101 && stop(context));
      const cutOff = setTimeout(() => {
        open.forEach(stop);
        setTimeout(() => server.closeAllConnections(), forceCloseMs).unref();
      }, settings.shutdown_timeout_ms);
      await Promise.all([bound.close(), http2?.close()]);
      clearTimeout(cutOff);
    },
  };
}

function createNodeServer(settings: HttpSettings, upgrades: WebSocketUpgrades): Server {
  const server = createServer({
    shouldUpgradeCallback: (request) => upgrades.accepts(request),
    maxHeaderSize: settings.max_header_bytes,
    connectionsCheckingInterval: 2_000,
    keepAliveTimeout: settings.keep_alive_timeout_ms,
    // Node's own response has no body and no request ID; check-framing.ts refuses such requests.
    requireHostHeader: false,
  });
  // Not options of createServer, which refuses a header timeout above the default request timeout.
  server.headersTimeout = settings.header_timeout_ms;
  server.requestTimeout = settings.body_timeout_ms;
  // Node would silently drop headers beyond 2000; their bytes are limited.
  server.maxHeadersCount = 0;
  server.on("clientError", refuseConnection);
  server.on("upgrade", (request, socket: Socket, head) => upgrades.serve(request, socket, head));
  // An unknown expectation may be ignored: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return server;
}

function finish(context: RequestContext, { logger, observe }: HttpServerParts): void {
  const finished = context.finished();
  observe(finished);
  const { durationMs, mainThreadMs, storeMs, fields } = finished;
  const { scope } = context;
  const line: LogFields = {
    request_id: context.requestId,
    operation: finished.operation,
    method: finished.method,
    status: finished.status,
    outcome: finished.outcome,
    path: pathWithoutQuery(context.request.url),
    duration_ms: Math.round(durationMs * 10) / 10,
    cpu_ms: Math.round(mainThreadMs * 10) / 10,
    store_ms: storeMs === 0 ? undefined : Math.round(storeMs * 10) / 10,
    client_address: context.clientAddress,
    organization_id: scope?.organizationId,
    project: scope?.projectName,
    key_id: scope?.key.keyId,
  };
  // Cheaper than spreading the fields, which makes the line an object without a known shape.
  for (const name in fields) line[name] = fields[name];
  logger.info(line, "request");
}

function pathWithoutQuery(url: string | undefined): string | undefined {
  const end = url?.indexOf("?") ?? -1;
  return end === -1 ? url : url!.slice(0, end);
}
