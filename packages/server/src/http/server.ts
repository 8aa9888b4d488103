/**
 * The HTTP server: mounts the routes, and takes every request through the same steps: authenticate, read, validate,
 * serve, answer. Fastify gives routing, connection handling and closing; it is known in this file alone.
 */
import type { AddressInfo } from "node:net";
import type { IncomingMessage, ServerResponse } from "node:http";
import fastify, { type FastifyInstance } from "fastify";
import type { Operation } from "../api/operation.ts";
import { AppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { MemoryBudget } from "../memory-budget.ts";
import { IndexedSet } from "../indexed-set.ts";
import { runWithCost } from "../scheduling/request-cost.ts";
import type { AdmitWork } from "./admit-work.ts";
import type { KeyCheck } from "./authenticate.ts";
import { preflightHeaders } from "./cors.ts";
import type { FailedKeys } from "./failed-keys.ts";
import { refuseConnection } from "./connection-error.ts";
import { RequestContext, type FinishedRequest } from "./request-context.ts";
import { framingFault } from "./check-framing.ts";
import { inputLimit } from "../input-limits.ts";
import { Connections } from "./connections.ts";
import { beginAnswer, serveRequest, type ServeContext } from "./serve-request.ts";
import { replyEmpty, replyError } from "./reply.ts";
import type { Route } from "./route.ts";

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
  readonly routes: readonly Route[];
  readonly checkKey: KeyCheck;
  readonly failedKeys: FailedKeys;
  /** Absent: telemetry queries and exports have no limits. */
  readonly admitWork?: AdmitWork | undefined;
  readonly logger: Logger;
  /** Told of every context that is over; must not throw. */
  observe(context: FinishedRequest): void;
}

export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** Stops accepting, lets running calls end within the shutdown time, then cuts them off with an error. */
  close(): Promise<void>;
}

const longestPathParameter = inputLimit({
  area: "HTTP",
  bounds: "A parameter in the path of a URL",
  value: 1024,
  unit: "characters",
  error: "invalid_request",
});
const methods = ["GET", "POST", "PATCH", "DELETE", "PUT"] as const;

export async function startHttpServer(parts: HttpServerParts): Promise<HttpServer> {
  const { settings } = parts;
  const app = createFastify(settings, (request, response, error) =>
    refuse(begin(request, response, "not_served"), error),
  );
  const open = new IndexedSet<RequestContext>();
  const serveContext: ServeContext = {
    ...parts,
    memory: new MemoryBudget(settings.max_request_memory_bytes),
    isClosing: () => closing,
  };
  let closing = false;

  const connections = new Connections();
  connections.watch(app.server);

  const begin = (request: IncomingMessage, response: ServerResponse, operation: string): RequestContext => {
    const context = new RequestContext({ request, response, operation }, (ended) => {
      open.delete(ended);
      finish(ended, parts);
      // A connection that was busy when closing began is idle now.
      if (closing) setImmediate(() => app.server.closeIdleConnections());
    });
    open.add(context);
    beginAnswer(context, serveContext);
    return context;
  };
  const mount = (
    url: string,
    method: string | string[],
    operation: string,
    serve: (context: RequestContext, request: { path: Record<string, string>; address: string }) => void,
  ) =>
    app.route({
      method,
      url,
      // Before Fastify looks at the body's type, which it would do for nothing.
      onRequest: (request, reply) => {
        reply.hijack();
        if (!connections.admit(reply.raw)) return;
        const context = begin(request.raw, reply.raw, operation);
        const fault = framingFault(request.raw);
        if (fault === undefined)
          serve(context, { path: request.params as Record<string, string>, address: request.ip });
        else refuse(context, fault, { headers: { connection: "close" } });
      },
      handler: afterHijack,
    });

  for (const route of parts.routes) {
    const { operation } = route;
    mount(
      toFastifyPath(operation.path),
      operation.method,
      operation.id,
      (context, request) =>
        void runWithCost(context.work, () => serveRequest(context, route, { server: serveContext, ...request })),
    );
  }
  for (const [path, routes] of groupByPath(parts.routes)) {
    const allowed = routes.map(({ operation }) => operation.method);
    const write = routes[0]?.writeError;
    const others = methods.filter((method) => !allowed.includes(method as Operation["method"]));
    mount(path, others, "method_not_allowed", (context) => {
      refuse(context, methodNotAllowed(context, allowed), { headers: { allow: allowed.join(", ") }, write });
    });
    mount(path, "OPTIONS", "preflight", (context) => {
      replyEmpty(context, 204, { allow: allowed.join(", "), ...preflightHeaders(context.request, allowed) });
      context.served();
    });
  }
  app.setNotFoundHandler((request, reply) => {
    reply.hijack();
    if (!connections.admit(reply.raw)) return;
    const path = request.url.split("?", 1)[0]!.slice(0, 200);
    refuse(
      begin(request.raw, reply.raw, "not_found"),
      new AppError("not_found", `There is nothing at ${request.method} ${path}.`),
    );
  });

  await listen(app, settings);
  const address = app.server.address() as AddressInfo;
  return {
    host: address.address,
    port: address.port,
    async close() {
      closing = true;
      const cutOff = setTimeout(() => {
        open.forEach((context) => context.abort(new AppError("overloaded", "The server is shutting down; try again.")));
        // Whoever does not read his error frame either is disconnected.
        setTimeout(() => app.server.closeAllConnections(), 1000).unref();
      }, settings.shutdown_timeout_ms);
      await app.close();
      clearTimeout(cutOff);
    },
  };
}

/** Fastify wants a handler; it does not come to it. */
function afterHijack(): never {
  throw new Error("A request went on after it was taken over.");
}

/** @param refuseEarly answers what Fastify refuses before a handler runs */
function createFastify(
  settings: HttpSettings,
  refuseEarly: (request: IncomingMessage, response: ServerResponse, error: AppError) => void,
): FastifyInstance {
  const app = fastify({
    logger: false,
    http: {
      maxHeaderSize: settings.max_header_bytes,
      headersTimeout: settings.header_timeout_ms,
      connectionsCheckingInterval: 2_000,
      // Node's own answer has no body and no request ID; check-framing.ts refuses such requests.
      requireHostHeader: false,
    },
    requestTimeout: settings.body_timeout_ms,
    keepAliveTimeout: settings.keep_alive_timeout_ms,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    trustProxy: settings.trusted_proxies.length === 0 ? false : [...settings.trusted_proxies],
    routerOptions: { maxParamLength: longestPathParameter },
    clientErrorHandler: refuseConnection,
    frameworkErrors: (_error, request, reply) => {
      reply.hijack();
      const message = `The path ${request.url.slice(0, 200)} is not a valid URL.`;
      refuseEarly(request.raw, reply.raw, new AppError("invalid_request", message));
    },
  });
  // Bodies are read by http/body.ts, after authentication, into one buffer.
  // Node would drop those beyond 2000 in silence; their bytes are bounded.
  app.server.maxHeadersCount = 0;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    reply.hijack();
    const code = error.statusCode === 415 ? "unsupported_media_type" : "invalid_request";
    refuseEarly(
      request.raw,
      reply.raw,
      new AppError(code, `${error.message}.`.replace(/\.\.$/, "."), { cause: error }),
    );
  });
  // An expectation that is not known may be ignored: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  return app;
}

/** @throws AppError with what to do, where the address cannot be had */
async function listen(app: FastifyInstance, { host, port }: HttpSettings): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    const reason = listenFailures[code] ?? (error instanceof Error ? error.message : String(error));
    const message = `The server cannot listen on ${host}, port ${port}: ${reason}. See server.host and server.port.`;
    throw new AppError("internal", message, { cause: error });
  }
}

const listenFailures: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program uses this port",
  EACCES: "this user may not use this port",
  EADDRNOTAVAIL: "this machine does not have the address",
  ENOTFOUND: "there is no such host",
};

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

function methodNotAllowed(context: RequestContext, allowed: readonly string[]): AppError {
  const message = `${context.request.method} is not served at this path; allowed: ${allowed.join(", ")}.`;
  return new AppError("method_not_allowed", message);
}

/** `{name}` becomes a parameter; `{+name}` at the end takes the rest of the path, slashes included (RFC 6570). */
function toFastifyPath(path: string): string {
  return path.replace(/\{\+\w+\}$/, "*").replaceAll(/\{(\w+)\}/g, ":$1");
}

function groupByPath(routes: readonly Route[]): Map<string, Route[]> {
  return Map.groupBy(routes, ({ operation }) => toFastifyPath(operation.path));
}
