/**
 * Upgrades requests to WebSockets on routes that serve them: authenticates them like any request, checks their key again
 * while they are open, sends pings, and closes them with a code for the reason.
 * https://www.rfc-editor.org/rfc/rfc6455
 */
import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { WebSocket, WebSocketServer } from "ws";
import { AppError, toAppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { runWithCost } from "../scheduling/request-cost.ts";
import { findFramingError } from "./check-framing.ts";
import { queryOf } from "./query-body.ts";
import type { RequestContext } from "./request-context.ts";
import { auditedRequest } from "./request-audit.ts";
import type { MessageSocket, Route, ServeSocket, SocketInput } from "./route.ts";
import type { PathParameters } from "./router.ts";
import { failRequest, shutdownError } from "./serve-request.ts";
import type { ServeContext } from "./serve-context.ts";
import { admitRequest, type AdmittedRequest, authorize } from "./admit-request.ts";

export interface UpgradeParts {
  readonly server: ServeContext;
  /** The route that a request is for. */
  routeOf(request: IncomingMessage): { readonly route: Route; readonly path: PathParameters } | undefined;
  /** Begins a request. */
  begin(request: IncomingMessage, response: ServerResponse, operation: string): RequestContext;
}

export interface WebSocketUpgrades {
  /** Whether a request asks for a WebSocket on a route that serves one; other upgrades are ignored, as HTTP allows. */
  accepts(request: IncomingMessage): boolean;
  serve(request: IncomingMessage, socket: Socket, head: Buffer): void;
}

const maximumMessageBytes = inputLimit({
  area: "HTTP",
  bounds: "Message that a client sends on a WebSocket",
  value: 4096,
  unit: "bytes",
  error: { instead: "the connection is closed with the code 1009" },
});
/** How often the key of an open WebSocket is checked; checks are cached. */
const keyCheckMs = 2_000;
/** Time for a client to answer a close frame before its connection is cut. */
const closeTimeoutMs = 1_000;
/** Pings without an answer after which the client counts as gone. */
const maximumUnansweredPings = 2;

/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const closeCodes = { done: 1000, goingAway: 1001, none: 1005, refused: 1008, failed: 1011 } as const;
const cleanCodes: ReadonlySet<number> = new Set([closeCodes.done, closeCodes.goingAway, closeCodes.none]);

export function createWebSocketUpgrades(parts: UpgradeParts): WebSocketUpgrades {
  return {
    accepts: (request) =>
      request.headers.upgrade?.toLowerCase() === "websocket" && parts.routeOf(request)?.route.upgrade !== undefined,
    serve(request, socket, head) {
      socket.on("error", () => socket.destroy());
      // For the errors before the upgrade, and to notice that the connection closed.
      const response = new ServerResponse(request);
      response.assignSocket(socket);
      response.once("finish", () => socket.destroySoon());
      const { path, route } = parts.routeOf(request)!;
      const context = parts.begin(request, response, route.operation.id);
      context.responseHeaders = { ...context.responseHeaders, connection: "close" };
      void runWithCost(context.cost, () => serveUpgrade(context, { route, path, socket, head, server: parts.server }));
    },
  };
}

interface Upgrade {
  readonly route: Route;
  readonly path: PathParameters;
  readonly socket: Socket;
  readonly head: Buffer;
  readonly server: ServeContext;
}

/** Never rejects. */
async function serveUpgrade(context: RequestContext, upgrade: Upgrade): Promise<void> {
  const { path, route, server } = upgrade;
  const { request } = context;
  let admitted: AdmittedRequest | undefined;
  try {
    const fault = findFramingError(request) ?? handshakeError(request);
    if (fault !== undefined) throw fault;
    admitted = await admitRequest(context, route.operation, server);
    const { scope } = admitted;
    const input: SocketInput = {
      scope,
      path,
      query: queryOf(request),
      headers: request.headers,
      requestId: context.requestId,
      signal: context.signal,
      openMemory: () => (route.memory ?? server.memory).open(scope.organizationId),
      note: (fields) => context.note(fields),
    };
    const open = (): ReturnType<NonNullable<Route["upgrade"]>> => route.upgrade!(input);
    const audited = auditedRequest(context, route.operation, path);
    const serve = await (server.audit === undefined
      ? open()
      : server.audit.serve(audited, { query: input.query }, open));
    context.signal.throwIfAborted();
    // A server that closes aborts only the WebSockets that are open then.
    if (server.isClosing()) throw shutdownError();
    await serveOpen(context, { ...upgrade, serve });
  } catch (thrown) {
    const error = failRequest(context, thrown, { logger: server.logger, write: route.writeError });
    server.audit?.failed(auditedRequest(context, route.operation, path), error);
  } finally {
    context.cost.end();
    admitted?.settle();
    context.served();
  }
}

/** What `ws` would refuse without a body that our clients can read. */
function handshakeError({ headers, method }: IncomingMessage): AppError | undefined {
  const { "sec-websocket-key": key = "", "sec-websocket-version": version = "" } = headers;
  if (method === "GET" && version === "13" && /^[+/0-9A-Za-z]{22}==$/.test(key)) return undefined;
  return new AppError(
    "invalid_request",
    "The WebSocket handshake is not valid. It must be a GET with Sec-WebSocket-Version: 13 and a Sec-WebSocket-Key of 16 bytes in base64.",
    { headers: { "sec-websocket-version": "13" } },
  );
}

async function serveOpen(
  context: RequestContext,
  { head, route, serve, server, socket }: Upgrade & { readonly serve: ServeSocket },
): Promise<void> {
  const webSocket = accept(context, socket, head);
  const closed = new Promise<number>((resolve) => webSocket.once("close", resolve));
  // The code says what was wrong; the connection closes either way.
  webSocket.on("error", () => {});
  const timers = [
    setInterval(() => checkKey(context, route, server), keyCheckMs),
    sendPings(webSocket, server.settings.heartbeat_interval_ms),
  ];
  let failure: AppError | undefined;
  try {
    await serve(messageSocket(webSocket));
  } catch (thrown) {
    failure = toAppError(context.signal.aborted ? context.signal.reason : thrown);
  }
  for (const timer of timers) clearInterval(timer);
  webSocket.close(codeOf(failure), reasonOf(failure));
  const cut = setTimeout(() => webSocket.terminate(), closeTimeoutMs);
  const code = await closed;
  clearTimeout(cut);
  if (failure === undefined || failure.code === "client_closed") {
    // A WebSocket ends when its client closes it.
    if (cleanCodes.has(code)) context.outcome = "ok";
  } else failRequest(context, failure, { logger: server.logger, write: route.writeError });
}

function accept(context: RequestContext, socket: Socket, head: Buffer): WebSocket {
  const { request, requestId, response } = context;
  const upgrader = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload: maximumMessageBytes });
  upgrader.on("headers", (headers) => headers.push(`x-request-id: ${requestId}`));
  let accepted: WebSocket | undefined;
  let reason = "";
  // Otherwise it would write a response of its own.
  upgrader.on("wsClientError", ({ message }) => void (reason = `: ${message}`));
  upgrader.handleUpgrade(request, socket, head, (webSocket) => {
    accepted = webSocket;
  });
  if (accepted === undefined) throw new AppError("invalid_request", `The WebSocket handshake is not valid${reason}.`);
  response.statusCode = 101;
  return accepted;
}

function messageSocket(webSocket: WebSocket): MessageSocket {
  return {
    send: (text) => webSocket.send(text, () => {}),
    get queuedBytes() {
      return webSocket.bufferedAmount;
    },
  };
}

/** Ends the request of a key that is no longer valid. Other failures of the check pass. */
function checkKey(context: RequestContext, { operation }: Route, server: ServeContext): void {
  const refuse = (thrown: unknown): void => {
    const error = toAppError(thrown);
    if (error.status === 401 || error.status === 403) context.abort(error);
  };
  try {
    const scope = authorize(context, operation, server);
    if (scope instanceof Promise) scope.catch(refuse);
  } catch (thrown) {
    refuse(thrown);
  }
}

/** Finds clients that disappeared without closing their connection. */
function sendPings(webSocket: WebSocket, intervalMs: number): NodeJS.Timeout {
  let unanswered = 0;
  webSocket.on("pong", () => {
    unanswered = 0;
  });
  return setInterval(() => {
    unanswered += 1;
    if (unanswered > maximumUnansweredPings) webSocket.terminate();
    else if (webSocket.readyState === WebSocket.OPEN) webSocket.ping(() => {});
  }, intervalMs);
}

function codeOf(failure: AppError | undefined): number {
  if (failure === undefined) return closeCodes.done;
  if (failure.status === 401 || failure.status === 403) return closeCodes.refused;
  return failure.code === "overloaded" ? closeCodes.goingAway : closeCodes.failed;
}

/** A close frame has room for 123 bytes. */
function reasonOf(failure: AppError | undefined): string {
  const bytes = Buffer.from(failure?.message ?? "").subarray(0, 123);
  return new TextDecoder().decode(bytes, { stream: true });
}
