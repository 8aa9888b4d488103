/**
 * Serves one request step by step: authenticates, reads, validates, serves, responds, and turns failures into errors.
 * docs/adr/0004-http-server.md
 */
import type { Operation } from "../api/operation.ts";
import { validate } from "../api/validate.ts";
import { AppError, toAppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { MemoryBudget, MemoryCharge } from "../memory-budget.ts";
import type { Permission, Scope } from "../tenant.ts";
import { measureStep } from "../scheduling/main-thread-time.ts";
import type { AdmitRequest, RequestAdmission } from "./request-admission.ts";
import { authenticate, type KeyCheck } from "./authenticate.ts";
import { authenticateSession, sessionSecret, type Sessions } from "./authenticate-session.ts";
import { readJsonBody, readRawBody, type ReadBody } from "./body.ts";
import { corsHeaders } from "./cors.ts";
import { errorLine, resetConnection, writeBytes, writeEvents } from "./stream-writer.ts";
import type { RequestContext } from "./request-context.ts";
import type { FailedKeys } from "./failed-keys.ts";
import { readForm, type SpooledForm } from "./form.ts";
import { queryOf, readQueryBody } from "./query-body.ts";
import { replyBytes, replyEmpty, replyError, replyJson, replyText } from "./reply.ts";
import type { RequestOriginOf } from "./request-origin.ts";
import type { ErrorWriter, Route, RouteResponse, RouteInput } from "./route.ts";
import type { PathParameters } from "./router.ts";
import { discardUnreadBody } from "./unread-body.ts";

export interface ServeContext {
  readonly settings: {
    readonly cors_origins: readonly string[];
    readonly max_json_body_bytes: number;
    readonly max_json_values: number;
    readonly status_hold_ms: number;
    readonly heartbeat_interval_ms: number;
  };
  readonly checkKey: KeyCheck;
  /** Absent: cookies are ignored. */
  readonly sessions?: Sessions | undefined;
  readonly originOf: RequestOriginOf;
  readonly failedKeys: FailedKeys;
  /** The memory budget of routes without their own. */
  readonly memory: MemoryBudget;
  readonly admitRequest?: AdmitRequest | undefined;
  readonly logger: Logger;
  isClosing(): boolean;
}

const noBody: ReadBody = { bytes: Buffer.alloc(0), value: undefined };

export function shutdownError(): AppError {
  return new AppError("overloaded", "The server is shutting down. Retry later.");
}

/** Sets the headers of every response, errors included. */
export function setCommonHeaders(context: RequestContext, server: ServeContext): void {
  const { cors_origins: origins } = server.settings;
  context.responseHeaders = {
    "x-request-id": context.requestId,
    ...(server.isClosing() ? { connection: "close" } : undefined),
    ...(origins.length === 0 ? undefined : corsHeaders(context.request, origins)),
  };
}

interface ServedRequest {
  readonly server: ServeContext;
  readonly path: PathParameters;
}

/** Never rejects: a failure becomes an error response or, once the response has begun, visibly breaks it. */
export async function serveRequest(
  context: RequestContext,
  route: Route,
  { server, path }: ServedRequest,
): Promise<void> {
  let charge: MemoryCharge | undefined;
  let form: SpooledForm | undefined;
  let admission: RequestAdmission | undefined;
  try {
    const admitted = await admitRequest(context, route.operation, server);
    ({ admission } = admitted);
    const { scope } = admitted;
    charge = (route.memory ?? server.memory).open(context.scope?.organizationId ?? "");
    form = route.form === undefined ? undefined : readForm(context.request, route.form, charge);
    const { bytes, value } = await read(context, { route, charge }, server);
    const { body: schema } = route.operation;
    const body = schema === undefined ? undefined : measureStep("validate", () => validate(schema, value));
    const input = {
      // `route` tied the function to the type of its operation's body; here the value is only validated.
      body: body as never,
      bytes,
      form,
      scope,
      session: context.session,
      origin: () => server.originOf(context.request),
      path,
      query: queryOf(context.request),
      headers: context.request.headers,
      requestId: context.requestId,
      clientAddress: context.clientAddress,
      signal: context.signal,
      memory: charge,
      note: (fields) => context.note(fields),
    } satisfies RouteInput<never>;
    const result = await measureStep("serve", () => route.serve(input));
    if (form === undefined && discardUnreadBody(context.request, context.response)) closeConnection(context);
    await send(context, result, server);
  } catch (thrown) {
    failRequest(context, thrown, { logger: server.logger, write: route.writeError });
  } finally {
    charge?.release();
    context.cost.end();
    admission?.settle();
    await form?.close();
    context.served();
  }
}

/** @throws AppError as `authorize` and the limits do */
export async function admitRequest(
  context: RequestContext,
  operation: Operation,
  server: ServeContext,
): Promise<{ readonly scope: Scope; readonly admission: RequestAdmission | undefined }> {
  // Functions of operations without a permission do not read the scope.
  if (operation.permission === "none") return { scope: undefined as never, admission: undefined };
  const scope = await authorize(context, operation, server);
  context.cost.organizationId = scope.organizationId;
  const admission = server.admitRequest?.(scope, operation);
  if (admission !== undefined) {
    context.cost.chargeTo(admission);
    context.responseHeaders = { ...context.responseHeaders, ...admission.headers() };
  }
  return { scope, admission };
}

/** Checks the request's key or session, and its permission. @throws AppError */
export async function authorize(
  context: RequestContext,
  { permission }: Operation,
  server: ServeContext,
): Promise<Scope> {
  if (permission === "none") throw new Error("The operation needs no key.");
  const scope = authenticateRequest(context, permission, server);
  context.scope = scope instanceof Promise ? await scope : scope;
  if (permission !== "any") context.scope.require(permission);
  return context.scope;
}

function authenticateRequest(
  context: RequestContext,
  permission: Permission | "any",
  { checkKey, failedKeys, sessions, originOf }: ServeContext,
): Scope | Promise<Scope> {
  const { request } = context;
  const from = { address: context.clientAddress, failedKeys };
  const secret = sessions === undefined ? undefined : sessionSecret(request, { sessions, originOf });
  if (sessions === undefined || secret === undefined) return authenticate(request.headers, checkKey, from);
  return authenticateSession(request, secret, { sessions, originOf, permission, from }).then(({ session, scope }) => {
    context.session = session;
    context.note({ session_id: session.sessionId });
    return scope;
  });
}

function read(
  { request }: RequestContext,
  { route, charge }: { readonly route: Route; readonly charge: MemoryCharge },
  { settings }: ServeContext,
): ReadBody | Promise<ReadBody> {
  const { body, maxBodyBytes, rawBody, queryAsBody } = route.operation;
  const limitBytes =
    route.bodyLimitBytes ?? Math.min(maxBodyBytes ?? Number.POSITIVE_INFINITY, settings.max_json_body_bytes);
  const limits = { limitBytes, charge, maxValues: settings.max_json_values };
  if (rawBody !== undefined) return readRawBody(request, rawBody, limits);
  if (body === undefined) return noBody;
  return queryAsBody === true ? readQueryBody(request, limits, body) : readJsonBody(request, limits);
}

async function send(context: RequestContext, result: RouteResponse, { settings, logger }: ServeContext): Promise<void> {
  const { signal } = context;
  const streams = result.kind === "events" || result.kind === "lines" || result.kind === "stream";
  // A stream is started even then, so that its source sees the abort and cleans up.
  if (signal.aborted && !streams) throw signal.reason;
  switch (result.kind) {
    case "json":
      return measureStep("respond", () => replyJson(context, result.status ?? 200, result.value, result.headers));
    case "text":
      return replyText(context, 200, result, result.headers);
    case "bytes":
      return replyBytes(context, 200, result, result.headers);
    case "empty":
      return replyEmpty(context, result.status, result.headers);
    case "stream": {
      const { bytes, type, headers } = result;
      const error = await writeBytes(context, bytes, { headers: { "content-type": type, ...headers }, signal });
      if (error === undefined) return;
      noteFailure(context, error, logger);
      return resetConnection(context.response);
    }
    case "lines": {
      const headers = { "content-type": "application/x-ndjson", ...result.headers };
      const error = await writeBytes(context, endedLines(result.lines), { headers, signal, onFailure: errorLine });
      if (error !== undefined) noteFailure(context, error, logger);
      return;
    }
    case "events": {
      const options = {
        headers: result.headers ?? {},
        holdMs: settings.status_hold_ms,
        heartbeatMs: settings.heartbeat_interval_ms,
        signal,
        done: result.done ?? true,
      };
      const error = await writeEvents(context, result.events, options);
      if (error !== undefined) noteFailure(context, error, logger);
    }
  }
}

async function* endedLines(lines: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  for await (const line of lines) yield `${line}\n`;
}

/** Responds with the error, or breaks a response that has begun. */
export function failRequest(
  context: RequestContext,
  thrown: unknown,
  { logger, write }: { readonly logger: Logger; readonly write: ErrorWriter | undefined },
): void {
  // After an abort, other failures are its consequences.
  const error = noteFailure(context, context.signal.aborted ? context.signal.reason : thrown, logger);
  if (context.response.headersSent) context.response.destroy();
  else if (!context.response.destroyed) replyError(context, error, { write });
}

function closeConnection(context: RequestContext): void {
  context.responseHeaders = { ...context.responseHeaders, connection: "close" };
}

function noteFailure(context: RequestContext, thrown: unknown, logger: Logger) {
  const error = toAppError(thrown);
  if (context.outcome === "ok") context.outcome = error.code;
  context.note({ error: error.message, ...(error.param === null ? {} : { param: error.param }) });
  if (error.code === "internal")
    logger.error(
      { request_id: context.requestId, operation: context.operation, error: error.cause ?? error },
      "the request failed with an internal error",
    );
  return error;
}
