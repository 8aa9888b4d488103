/**
 * Serves one request step by step: authenticates, reads, validates, serves, responds, and turns failures into errors.
 * docs/adr/0002-contract-and-http-server.md
 */
import type { Operation } from "../api/operation.ts";
import { satisfies, validate } from "../api/validate.ts";
import { AppError, toAppError, toErrorBody } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { MemoryBudget, MemoryCharge } from "../memory-budget.ts";
import { measureStep } from "../scheduling/main-thread-time.ts";
import { admitRequest, type AdmittedRequest } from "./admit-request.ts";
import type { ServeContext } from "./serve-context.ts";
import { readJsonBody, readRawBody, type ReadBody } from "./body.ts";
import { clientNetwork } from "./client-address.ts";
import { corsHeaders } from "./cors.ts";
import { dataEvent, errorLine, namedEvent, resetConnection, writeBytes, writeEvents } from "./stream-writer.ts";
import { auditedRequest } from "./request-audit.ts";
import type { RequestContext } from "./request-context.ts";
import { readForm, type SpooledForm } from "./form.ts";
import { readQueryBody } from "./query-body.ts";
import { replyBytes, replyEmpty, replyError, replyJson, replyText } from "./reply.ts";
import type { ErrorWriter, ResponseHeaders, Route, RouteResponse } from "./route.ts";
import type { PathParameters } from "./router.ts";
import { ServedInput } from "./served-input.ts";
import { discardUnreadBody } from "./unread-body.ts";

const noBody: ReadBody = { bytes: Buffer.alloc(0), value: undefined };

export function shutdownError(): AppError {
  return new AppError("overloaded", "The server is shutting down. Retry later.");
}

/** Of every response that has no others: browsers keep no copy, take it for nothing else than its type, and show it in no frame. */
const protectiveHeaders: ResponseHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Sets the headers of every response, errors included. */
export function setCommonHeaders(context: RequestContext, server: ServeContext): void {
  const { cors_origins: origins } = server.settings;
  if (origins.length === 0 && !server.isClosing()) {
    context.responseHeaders = { "x-request-id": context.requestId, ...protectiveHeaders };
    return;
  }
  context.responseHeaders = {
    "x-request-id": context.requestId,
    ...protectiveHeaders,
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
  let admitted: AdmittedRequest | undefined;
  let stopWatching: (() => void) | undefined;
  // Awaiting a value that is there would still cost a turn of the microtask queue.
  try {
    const admitting = admitRequest(context, route.operation, server);
    admitted = admitting instanceof Promise ? await admitting : admitting;
    const { scope } = admitted;
    stopWatching = watchBody(context, route, server);
    charge = openCharge(context, route.memory ?? server.memory);
    form = route.form === undefined ? undefined : readForm(context.request, route.form, charge);
    const reading = read(context, { route, charge }, server);
    const body = reading instanceof Promise ? await reading : reading;
    if (form === undefined) stopWatching?.();
    const parts = { scope, read: body, form, path, memory: charge, originOf: server.originOf };
    const { body: schema } = route.operation;
    // A refusal shows the whole value.
    const isValid = route.takesCutTexts === true && schema !== undefined && isValidBody(schema, body);
    if (!isValid) await body.texts?.restore();
    if (!isValid && schema !== undefined) measureStep("validate", () => validate(schema, body.value));
    const serving = measureStep("serve", () =>
      serve(context, { route, path }, new ServedInput(context, parts), server),
    );
    const result = serving instanceof Promise ? await serving : serving;
    if (form === undefined && discardUnreadBody(context.request, context.response)) closeConnection(context);
    const sending = send(context, result, server);
    if (sending !== undefined) await sending;
  } catch (thrown) {
    const error = failRequest(context, thrown, { logger: server.logger, write: route.writeError });
    server.audit?.failed(auditedRequest(context, route.operation, path), error);
  } finally {
    charge?.release();
    stopWatching?.();
    context.cost.end();
    admitted?.settle();
    if (form !== undefined) await form.close();
    context.served();
  }
}

function serve(
  context: RequestContext,
  { path, route }: { readonly route: Route; readonly path: PathParameters },
  input: ServedInput,
  { audit }: ServeContext,
): RouteResponse | Promise<RouteResponse> {
  if (audit === undefined) return route.serve(input);
  return audit.serve(auditedRequest(context, route.operation, path), input, () => route.serve(input));
}

function isValidBody(schema: NonNullable<Operation["body"]>, { value }: ReadBody): boolean {
  return measureStep("validate", () => satisfies(schema, value));
}

function openCharge({ clientAddress, scope }: RequestContext, memory: MemoryBudget): MemoryCharge {
  if (scope !== undefined) return memory.open(scope.organizationId);
  return memory.openAnonymous(clientNetwork(clientAddress ?? ""));
}

/** Ends the request if its body does not arrive. @returns ends the watch, also where the body is complete */
function watchBody(
  context: RequestContext,
  { operation, writeError }: Route,
  server: ServeContext,
): (() => void) | undefined {
  const { request } = context;
  const hasBody = operation.body !== undefined || operation.rawBody !== undefined || operation.form !== undefined;
  if (!hasBody || request.complete) return undefined;
  const { socket } = request;
  return server.arrivals.watch({
    received: () => (request.complete ? undefined : socket.bytesRead),
    giveUp() {
      const error = new AppError("timeout", "The rest of the request's body did not arrive in time.");
      context.abort(error);
      // Node does not tell the body's readers that the connection closed if the response is complete by then.
      context.response.once("finish", () => request.destroy());
      failRequest(context, error, { logger: server.logger, write: writeError });
    },
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

/** @returns a promise for streams only */
function send(context: RequestContext, result: RouteResponse, server: ServeContext): Promise<void> | undefined {
  // A stream is started even if the request is aborted, so that its source sees the abort and cleans up.
  if ("events" in result || result.kind === "lines" || result.kind === "stream")
    return sendStream(context, result, server);
  if (context.cancellation.aborted) throw context.cancellation.reason;
  switch (result.kind) {
    case "json":
      measureStep("respond", () => replyJson(context, result.status ?? 200, result.value, result.headers));
      break;
    case "text":
      replyText(context, 200, result, result.headers);
      break;
    case "bytes":
      replyBytes(context, 200, result, result.headers);
      break;
    case "empty":
      replyEmpty(context, result.status, result.headers);
  }
  return undefined;
}

async function sendStream(
  context: RequestContext,
  result: Extract<RouteResponse, { readonly kind: "events" | "named_events" | "lines" | "stream" }>,
  { settings, logger }: ServeContext,
): Promise<void> {
  const { signal } = context;
  switch (result.kind) {
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
      const onFailure = (error: AppError): string => dataEvent(JSON.stringify(toErrorBody(error)));
      const end = result.done === false ? undefined : dataEvent("[DONE]");
      const options = { ...eventsOptions(context, settings, result.headers), end, onFailure, toText: dataEvent };
      const error = await writeEvents(context, result.events, options);
      if (error !== undefined) noteFailure(context, error, logger);
      return;
    }
    case "named_events": {
      const { errorEvent, events, headers } = result;
      const onFailure = (error: AppError, sequence: number): string => namedEvent(errorEvent(error, sequence));
      const options = { ...eventsOptions(context, settings, headers), end: undefined, onFailure, toText: namedEvent };
      const error = await writeEvents(context, events, options);
      if (error !== undefined) noteFailure(context, error, logger);
    }
  }
}

function eventsOptions({ signal }: RequestContext, settings: ServeContext["settings"], headers: ResponseHeaders = {}) {
  return { headers, signal, holdMs: settings.status_hold_ms, heartbeatMs: settings.heartbeat_interval_ms };
}

async function* endedLines(lines: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  for await (const line of lines) yield `${line}\n`;
}

/** Responds with the error, or breaks a response that has begun. @returns the error */
export function failRequest(
  context: RequestContext,
  thrown: unknown,
  { logger, write }: { readonly logger: Logger; readonly write: ErrorWriter | undefined },
): AppError {
  // After an abort, other failures are its consequences.
  const error = noteFailure(context, context.cancellation.aborted ? context.cancellation.reason : thrown, logger);
  if (context.response.headersSent) context.response.destroy();
  else if (!context.response.destroyed) replyError(context, error, { write });
  return error;
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
