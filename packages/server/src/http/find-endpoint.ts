/** Finds what serves a request: the endpoint for its method and path, or the error that it gets. */
import type { IncomingMessage } from "node:http";
import { AppError, toAppError } from "../errors.ts";
import { runWithCost } from "../scheduling/request-cost.ts";
import { preflightHeaders } from "./cors.ts";
import { replyEmpty, replyError } from "./reply.ts";
import type { RequestContext } from "./request-context.ts";
import type { ErrorWriter, Route } from "./route.ts";
import { otherApiHint, pathHint } from "./path-hint.ts";
import { pathOf, Router, type PathParameters } from "./router.ts";
import { serveRequest } from "./serve-request.ts";
import type { ServeContext } from "./serve-context.ts";

/** What serves the requests of one method at one path. */
export interface Endpoint {
  /** For the log and the metrics: an operation's ID, or why there is none. */
  readonly operation: string;
  /** Absent: there is none. */
  readonly route?: Route;
  serve(context: RequestContext, path: PathParameters): void;
}

export interface PathEndpoints {
  readonly byMethod: ReadonlyMap<string, Endpoint>;
  readonly methodNotAllowed: Endpoint;
}

export function createRouter(routes: readonly Route[], server: ServeContext): Router<PathEndpoints> {
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

export type WriterOf = (url: string) => ErrorWriter | undefined;

/** Finds the error format of an unknown path. */
export function errorWriters(routes: readonly Route[]): WriterOf {
  const writers = new Map<string, ErrorWriter>();
  for (const { errorsUnder, writeError } of routes)
    if (errorsUnder !== undefined && writeError !== undefined) writers.set(`${errorsUnder}/`, writeError);
  return (url) => {
    const path = `${pathOf(url)}/`;
    return [...writers].find(([prefix]) => path.startsWith(prefix))?.[1];
  };
}

export function findEndpoint(
  router: Router<PathEndpoints>,
  { method = "", url = "" }: IncomingMessage,
  writerOf: WriterOf,
): { endpoint: Endpoint; path: PathParameters } {
  try {
    const match = router.find(url);
    if (match === undefined) return { endpoint: notFoundEndpoint(writerOf(url), router), path: {} };
    const { byMethod, methodNotAllowed } = match.value;
    return { endpoint: byMethod.get(method) ?? methodNotAllowed, path: match.parameters };
  } catch (error) {
    const form = { write: writerOf(url) };
    const serve = (context: RequestContext): void => refuse(context, toAppError(error), form);
    return { endpoint: { operation: "not_served", serve }, path: {} };
  }
}

/** The route of a GET. */
export function socketRouteOf(
  router: Router<PathEndpoints>,
  { url = "" }: IncomingMessage,
): { readonly route: Route; readonly path: PathParameters } | undefined {
  try {
    const match = router.find(url);
    const route = match?.value.byMethod.get("GET")?.route;
    return match && route && { route, path: match.parameters };
  } catch {
    // Served like other requests, which reports the error.
    return undefined;
  }
}

function routeEndpoint(route: Route, server: ServeContext): Endpoint {
  return {
    operation: route.operation.id,
    route,
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
      const { headers, method, url = "" } = context.request;
      const isSocket = headers.upgrade?.toLowerCase() === "websocket";
      const hint = isSocket ? " It does not take WebSockets." : otherApiHint(pathOf(url));
      const message = `The method ${method} is not allowed for this path; allowed: ${allowed.join(", ")}.${hint}`;
      const error = new AppError("method_not_allowed", message);
      refuse(context, error, { headers: { allow: allowed.join(", ") }, write });
    },
  };
}

function notFoundEndpoint(write: Route["writeError"], router: Router<PathEndpoints>): Endpoint {
  return {
    operation: "not_found",
    serve(context) {
      const { method, url = "" } = context.request;
      const path = url.split("?", 1)[0]!.slice(0, 200);
      const hint = pathHint(path, (other) => serves(router, method, other));
      refuse(context, new AppError("not_found", `The path ${path} does not exist (${method}).${hint}`), { write });
    },
  };
}

function serves(router: Router<PathEndpoints>, method = "", path: string): boolean {
  try {
    return router.find(path)?.value.byMethod.has(method) === true;
  } catch {
    // A part of it is too long for the route that it would have.
    return false;
  }
}

/** Responds with an error that is found before the request is served. */
export function refuse(context: RequestContext, error: AppError, form?: Parameters<typeof replyError>[2]): void {
  context.outcome = error.code;
  replyError(context, error, form);
  context.served();
}
