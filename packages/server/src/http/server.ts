/**
 * The HTTP server: routes each request, takes it through the steps of serve-request.ts, and closes in an orderly way.
 * docs/adr/0004-http-server.md
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import { AppError, toAppError } from "../errors.ts";
import { IndexedSet } from "../indexed-set.ts";
import type { Logger } from "../logger.ts";
import { MemoryBudget } from "../memory-budget.ts";
import { runWithCost } from "../scheduling/request-cost.ts";
import type { AdmitRequest } from "./request-admission.ts";
import type { KeyCheck } from "./authenticate.ts";
import type { Sessions } from "./authenticate-session.ts";
import { findFramingError } from "./check-framing.ts";
import { createClientAddress } from "./client-address.ts";
import { refuseConnection } from "./connection-error.ts";
import { Connections } from "./connections.ts";
import { preflightHeaders } from "./cors.ts";
import { divertHttp2 } from "./http2-preface.ts";
import type { FailedKeys } from "./failed-keys.ts";
import { bindPort, type BoundPort } from "./listen.ts";
import { replyEmpty, replyError } from "./reply.ts";
import { createRequestOrigin } from "./request-origin.ts";
import { RequestContext, type FinishedRequest } from "./request-context.ts";
import type { ErrorWriter, Route } from "./route.ts";
import { pathOf, Router, type PathParameters } from "./router.ts";
import { setCommonHeaders, serveRequest, type ServeContext } from "./serve-request.ts";

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
  readonly keep_alive_timeout_ms: number;
  readonly status_hold_ms: number;
  readonly heartbeat_interval_ms: number;
  readonly shutdown_timeout_ms: number;
}

export interface HttpServerParts {
  readonly settings: HttpSettings;
  /** The port; absent: it is bound now. */
  readonly bound?: BoundPort | undefined;
  readonly routes: readonly Route[];
  readonly checkKey: KeyCheck;
  /** Absent: cookies are ignored. */
  readonly sessions?: Sessions | undefined;
  readonly failedKeys: FailedKeys;
  /** Absent: telemetry queries and exports have no limits. */
  readonly admitRequest?: AdmitRequest | undefined;
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
  /** Stops accepting, lets running requests end within the shutdown time, then ends them with an error. */
  close(): Promise<void>;
}

/** What serves the requests of one method at one path. */
interface Endpoint {
  /** For the log and the metrics: an operation's ID, or why there is none. */
  readonly operation: string;
  serve(context: RequestContext, path: PathParameters): void;
}

interface PathEndpoints {
  readonly byMethod: ReadonlyMap<string, Endpoint>;
  readonly methodNotAllowed: Endpoint;
}

/** Time for clients to read the error that ended their request before their connection is closed. */
const forceCloseMs = 1000;

export async function startHttpServer(parts: HttpServerParts): Promise<HttpServer> {
  const { settings } = parts;
  let closing = false;
  const serveContext: ServeContext = {
    ...parts,
    memory: new MemoryBudget(settings.max_request_memory_bytes),
    originOf: createRequestOrigin(settings.trusted_proxies),
    isClosing: () => closing,
  };
  const clientAddressOf = createClientAddress(settings.trusted_proxies);
  const router = createRouter(parts.routes, serveContext);
  const writerOf = errorWriters(parts.routes);
  const server = createNodeServer(settings);
  const connections = new Connections();
  connections.watch(server);

  const open = new IndexedSet<RequestContext>();
  const onFinished = (context: RequestContext): void => {
    open.delete(context);
    finish(context, parts);
    // A connection that was busy when closing began may be idle now.
    if (closing) setImmediate(() => server.closeIdleConnections());
  };
  server.on("request", (request, response) => {
    if (!connections.admit(response)) return;
    const { endpoint, path } = findEndpoint(router, request, writerOf);
    const clientAddress = clientAddressOf(request.socket, request.headers);
    const { operation } = endpoint;
    const context = new RequestContext({ request, response, operation, clientAddress }, onFinished);
    open.add(context);
    setCommonHeaders(context, serveContext);
    const fault = findFramingError(request);
    if (fault === undefined) endpoint.serve(context, path);
    else refuse(context, fault, { headers: { connection: "close" } });
  });

  const { http2 } = parts;
  const closeUndecided =
    http2 === undefined
      ? undefined
      : divertHttp2(server, { accept: (socket) => http2.accept(socket), timeoutMs: settings.header_timeout_ms });
  const bound = parts.bound ?? (await bindPort(settings));
  await bound.serve(server);
  return {
    host: bound.host,
    port: bound.port,
    async close() {
      closing = true;
      closeUndecided?.();
      const cutOff = setTimeout(() => {
        open.forEach((context) =>
          context.abort(new AppError("overloaded", "The server is shutting down. Retry later.")),
        );
        setTimeout(() => server.closeAllConnections(), forceCloseMs).unref();
      }, settings.shutdown_timeout_ms);
      await Promise.all([bound.close(), http2?.close()]);
      clearTimeout(cutOff);
    },
  };
}

function createNodeServer(settings: HttpSettings): Server {
  const server = createServer({
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
  // An unknown expectation may be ignored: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return server;
}

function createRouter(routes: readonly Route[], server: ServeContext): Router<PathEndpoints> {
  const router = new Router<PathEndpoints>();
  for (const [path, atPath] of Map.groupBy(routes, ({ operation }) => operation.path)) {
    const allowed = atPath.map(({ operation }) => operation.method);
    const byMethod = new Map<string, Endpoint>(
      atPath.map((route) => [route.operation.method, routeEndpoint(route, server)]),
    );
    if (byMethod.size < atPath.length) throw new Error(`Two operations have the same method at ${path}.`);
    const get = byMethod.get("GET");
    if (get !== undefined) byMethod.set("HEAD", get);
    byMethod.set("OPTIONS", preflightEndpoint(allowed));
    router.add(path, { byMethod, methodNotAllowed: methodNotAllowedEndpoint(allowed, atPath[0]?.writeError) });
  }
  return router;
}

type WriterOf = (url: string) => ErrorWriter | undefined;

/** Finds the error format of an unknown path. */
function errorWriters(routes: readonly Route[]): WriterOf {
  const writers = new Map<string, ErrorWriter>();
  for (const { errorsUnder, writeError } of routes)
    if (errorsUnder !== undefined && writeError !== undefined) writers.set(`${errorsUnder}/`, writeError);
  return (url) => {
    const path = `${pathOf(url)}/`;
    return [...writers].find(([prefix]) => path.startsWith(prefix))?.[1];
  };
}

function findEndpoint(
  router: Router<PathEndpoints>,
  { method = "", url = "" }: IncomingMessage,
  writerOf: WriterOf,
): { endpoint: Endpoint; path: PathParameters } {
  try {
    const match = router.find(url);
    if (match === undefined) return { endpoint: notFoundEndpoint(writerOf(url)), path: {} };
    const { byMethod, methodNotAllowed } = match.value;
    return { endpoint: byMethod.get(method) ?? methodNotAllowed, path: match.parameters };
  } catch (error) {
    const form = { write: writerOf(url) };
    const serve = (context: RequestContext): void => refuse(context, toAppError(error), form);
    return { endpoint: { operation: "not_served", serve }, path: {} };
  }
}

function routeEndpoint(route: Route, server: ServeContext): Endpoint {
  return {
    operation: route.operation.id,
    serve: (context, path) => void runWithCost(context.cost, () => serveRequest(context, route, { server, path })),
  };
}

function preflightEndpoint(allowed: readonly string[]): Endpoint {
  return {
    operation: "preflight",
    serve(context) {
      replyEmpty(context, 204, { allow: allowed.join(", "), ...preflightHeaders(context.request, allowed) });
      context.served();
    },
  };
}

function methodNotAllowedEndpoint(allowed: readonly string[], write: Route["writeError"]): Endpoint {
  return {
    operation: "method_not_allowed",
    serve(context) {
      const message = `The method ${context.request.method} is not allowed for this path; allowed: ${allowed.join(", ")}.`;
      const error = new AppError("method_not_allowed", message);
      refuse(context, error, { headers: { allow: allowed.join(", ") }, write });
    },
  };
}

function notFoundEndpoint(write: Route["writeError"]): Endpoint {
  return {
    operation: "not_found",
    serve(context) {
      const { method, url = "" } = context.request;
      const path = url.split("?", 1)[0]!.slice(0, 200);
      refuse(context, new AppError("not_found", `The path ${path} does not exist (${method}).`), { write });
    },
  };
}

function finish(context: RequestContext, { logger, observe }: HttpServerParts): void {
  const finished = context.finished();
  observe(finished);
  const { fields, durationMs, mainThreadMs, storeMs, ...head } = finished;
  logger.info(
    {
      request_id: context.requestId,
      ...head,
      path: context.request.url?.split("?", 1)[0],
      duration_ms: Math.round(durationMs * 10) / 10,
      cpu_ms: Math.round(mainThreadMs * 10) / 10,
      ...(storeMs === 0 ? {} : { store_ms: Math.round(storeMs * 10) / 10 }),
      client_address: context.clientAddress,
      organization_id: context.scope?.organizationId,
      project: context.scope?.projectName,
      key_id: context.scope?.key.keyId,
      ...fields,
    },
    "request",
  );
}

function refuse(context: RequestContext, error: AppError, form?: Parameters<typeof replyError>[2]): void {
  context.outcome = error.code;
  replyError(context, error, form);
  context.served();
}
