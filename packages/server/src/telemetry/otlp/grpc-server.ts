/**
 * Serves OTLP/gRPC: three unary methods over HTTP/2 without TLS, on the HTTP server's port and, if configured, on one of its
 * own. Built on node:http2, because a gRPC library costs 30 to 70 % more CPU per request (docs/adr/0020-telemetry-ingest-and-journal.md).
 * https://opentelemetry.io/docs/specs/otlp/#otlpgrpc
 */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { AppError, type ErrorCode, toAppError } from "../../errors.ts";
import type { RequestAdmission } from "../../http/request-admission.ts";
import { authenticate, type KeyCheck } from "../../http/authenticate.ts";
import type { ClientLimits } from "../../http/client-limits.ts";
import type { ClientAddressOf } from "../../http/client-address.ts";
import { BodyArrivals } from "../../http/body-arrivals.ts";
import { PacedTasks } from "../../scheduling/paced-tasks.ts";
import { inputLimit } from "../../input-limits.ts";
import type { LogFields, Logger } from "../../logger.ts";
import type { MemoryCharge } from "../../memory-budget.ts";
import type { Scope } from "../../tenant.ts";
import { measureStep } from "../../scheduling/main-thread-time.ts";
import { runWithCost, RequestCost } from "../../scheduling/request-cost.ts";
import { writeExportResult } from "./export-result.ts";
import { isGrpc, readMessage, replyGrpcError, replyHttpError, replyMessage, timeoutMs } from "./grpc-message.ts";
import type { Ingest } from "./ingest.ts";
import type { BodyLimits } from "./routes.ts";
import { type Signal, signals } from "./signals.ts";

export interface GrpcSettings {
  /** Timeout for receiving a message. */
  readonly bodyTimeoutMs: number;
  /** Longest time in which nothing arrives of a message. */
  readonly bodyIdleTimeoutMs: number;
  /** How long a connection without calls is kept open. */
  readonly keepAliveTimeoutMs: number;
  /** Timeout for calls in flight at shutdown. */
  readonly shutdownTimeoutMs: number;
}

export interface GrpcParts extends ClientLimits {
  readonly ingest: Ingest;
  readonly checkKey: KeyCheck;
  readonly clientAddressOf: ClientAddressOf;
  /** Admits one export, before its message is read. Absent: exports have no limits. @throws AppError rate_limited */
  readonly admit?: ((scope: Scope) => RequestAdmission | Promise<RequestAdmission>) | undefined;
  readonly logger: Logger;
  readonly settings: GrpcSettings;
  readonly limits: BodyLimits;
  /** Called for every finished call; must not throw. */
  observe(call: FinishedCall): void;
}

/** A finished call, in HTTP's terms. */
export interface FinishedCall {
  readonly operation: string;
  readonly status: number;
  readonly durationMs: number;
  /** Time on the main thread, as far as it is measured. */
  readonly mainThreadMs: number;
  readonly storeMs: number;
}

export interface GrpcServer {
  /** Serves a connection that another server accepted. */
  accept(socket: Socket): void;
  /** Also listens on a port of its own. @returns the port */
  listen(address: { readonly host: string; readonly port: number }): Promise<number>;
  /** Sends GOAWAY, lets calls in flight finish within the shutdown timeout, then aborts them. */
  close(): Promise<void>;
}

/** Large windows, so that a message of half a megabyte does not wait for window updates. */
const windowBytes = 1_048_576;
const concurrentCalls = inputLimit({
  area: "OpenTelemetry data",
  bounds: "Concurrent calls over one gRPC connection",
  value: 256,
  error: { instead: "the client waits" },
});
/** Calls that a client may reset at once, and each second after that; then its connection is closed. */
const resets = { streamResetBurst: 200, streamResetRate: 20 };
const sessionSettings = { initialWindowSize: windowBytes, maxConcurrentStreams: concurrentCalls, enablePush: false };

const signalByPath: ReadonlyMap<string, Signal> = new Map(
  Object.values(signals).map((signal) => [`/${signal.service}/Export`, signal]),
);

export function createGrpcServer(parts: GrpcParts): GrpcServer {
  const { settings } = parts;
  const server = createServer({ settings: sessionSettings, maxSessionMemory: 64, ...resets });
  parts.connectionLimits.guard(server);
  const [starts, endings] = [new PacedTasks(), new PacedTasks()];
  const serving: Serving = { ...parts, arrivals: new BodyArrivals(settings.bodyIdleTimeoutMs), endings };
  /** With the calls whose message is being received. */
  const sessions = new Map<ServerHttp2Session, Set<ServerHttp2Stream>>();
  server.on("session", (session) => {
    const receiving = new Set<ServerHttp2Stream>();
    sessions.set(session, receiving);
    session.setLocalWindowSize(windowBytes * 4);
    session.once("close", () => sessions.delete(session));
    session.setTimeout(settings.keepAliveTimeoutMs, () => session.close());
    // The sockets of the shared port stay half open when the client has sent its last byte. Calls in flight are still answered.
    session.socket.once("end", () => {
      session.close();
      for (const stream of receiving) endings.add(() => stream.destroy());
    });
    session.on("error", (error) => parts.logger.debug({ error }, "a gRPC connection failed"));
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", (error) => parts.logger.debug({ error }, "a gRPC call failed"));
    const receiving = sessions.get(stream.session as ServerHttp2Session);
    receiving?.add(stream);
    // Node sometimes leaves a call that its client has reset closed, but not destroyed, and its session open.
    stream.once("aborted", () => stream.destroy());
    for (const event of ["end", "close"]) stream.once(event, () => receiving?.delete(stream));
    // A connection can open hundreds of calls in one packet.
    starts.add(() => {
      if (stream.destroyed) return;
      const call = new Call(stream, headers, parts.clientAddressOf);
      void runWithCost(call.cost, () => serveCall(call, serving));
    });
  });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const closed = Array.from(sessions.keys(), (session) => once(session, "close"));
    if (server.listening) closed.push(once(server, "close"));
    server.close();
    for (const session of sessions.keys()) session.close();
    const cutOff = setTimeout(() => {
      for (const session of sessions.keys()) session.destroy();
    }, settings.shutdownTimeoutMs);
    await Promise.all(closed);
    clearTimeout(cutOff);
  };
  return {
    accept: (socket) => void server.emit("connection", socket),
    async listen({ host, port }) {
      server.listen(port, host);
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    },
    close: () => (closing ??= close()),
  };
}

interface Serving extends GrpcParts {
  readonly arrivals: BodyArrivals;
  /** Calls that ended by themselves, of which thousands may have the same deadline. */
  readonly endings: PacedTasks;
}

/** Never rejects: every failure becomes a status. */
async function serveCall(call: Call, parts: Serving): Promise<void> {
  const { stream, headers } = call;
  const startMs = performance.now();
  const timer = startTimer(call, timeoutMs(headers), parts);
  try {
    const message = await answer(call, parts);
    if (call.outcome === "ok") replyMessage(stream, message);
  } catch (thrown) {
    fail(call, thrown, parts.logger);
  } finally {
    clearTimeout(timer);
    call.charge?.release();
    call.cost.end();
    call.admission?.settle();
    call.close?.();
    finish(call, performance.now() - startMs, parts);
  }
}

/** A call in flight. */
class Call {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  /** undefined for a method that does not exist. */
  readonly signal: Signal | undefined;
  readonly cost: RequestCost;
  readonly clientAddress: string | undefined;
  outcome: "ok" | ErrorCode = "ok";
  error?: AppError;
  scope?: Scope;
  charge?: MemoryCharge;
  admission?: RequestAdmission | undefined;
  /** Ends the count of the organization's open requests. */
  close?: () => void;
  fields: LogFields = {};

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, clientAddressOf: ClientAddressOf) {
    this.stream = stream;
    this.headers = headers;
    this.clientAddress = clientAddressOf(stream.session?.socket, headers);
    this.signal = signalByPath.get(headers[":path"] ?? "");
    this.cost = new RequestCost(this.signal === undefined ? "grpc_unknown" : `grpc_export_${this.signal.name}`);
  }
}

/** Ends the call at the client's deadline, or if its message does not arrive in time. */
function startTimer(call: Call, clientMs: number | undefined, { endings, settings }: Serving): NodeJS.Timeout {
  const { bodyTimeoutMs } = settings;
  return setTimeout(
    () => endings.add(() => endLate(call, "The deadline of this call was exceeded.")),
    Math.min(clientMs ?? bodyTimeoutMs, bodyTimeoutMs),
  ).unref();
}

/** The store can still write the rows. If the client retries, duplicates are removed. */
function endLate(call: Call, message: string): void {
  if (call.outcome === "ok") fail(call, new AppError("timeout", message));
  call.stream.close();
}

async function answer(call: Call, parts: Serving): Promise<Uint8Array> {
  const { ingest, checkKey, failedKeys, admit, limits } = parts;
  const { stream, headers, signal, cost } = call;
  if (!isGrpc(headers)) {
    throw new AppError(
      "unsupported_media_type",
      "Over HTTP/2 without TLS, Sounding serves only OTLP/gRPC (application/grpc or application/grpc+proto); use HTTP/1.1 for everything else.",
    );
  }
  if (signal === undefined) {
    throw new AppError("method_not_allowed", `The method ${(headers[":path"] ?? "").slice(0, 200)} does not exist.`);
  }
  call.scope = await authenticate(headers, checkKey, { address: call.clientAddress, failedKeys });
  call.scope.require("telemetry_write");
  cost.organizationId = call.scope.organizationId;
  call.close = parts.openRequests.open(call.scope.organizationId);
  call.admission = await admit?.(call.scope);
  if (call.admission !== undefined) cost.chargeTo(call.admission);
  call.charge = limits.memory.open(call.scope.organizationId);
  const stopWatching = watchMessage(call, parts);
  const bytes = await readMessage(stream, headers, { limitBytes: limits.bodyLimitBytes, charge: call.charge }).finally(
    stopWatching,
  );
  const { scope } = call;
  const outcome = await measureStep("serve", () => ingest({ scope, signal, encoding: "protobuf", bytes }));
  call.fields = { accepted: outcome.accepted, ...(outcome.rejected === 0 ? {} : { rejected: outcome.rejected }) };
  return writeExportResult(outcome, signal, "protobuf");
}

/** Ends the call if its message does not arrive. Call it before the message is read, in the same turn. */
function watchMessage(call: Call, { arrivals }: Serving): () => void {
  const { stream } = call;
  let received = 0;
  stream.on("data", (bytes: Buffer) => (received += bytes.length));
  return arrivals.watch({
    received: () => (stream.destroyed ? undefined : received),
    giveUp: () => endLate(call, "The rest of this call's message did not arrive in time."),
  });
}

function fail(call: Call, thrown: unknown, logger?: Logger): void {
  if (call.outcome !== "ok") return;
  const error = toAppError(thrown);
  call.outcome = error.code;
  call.error = error;
  if (error.code === "internal")
    logger?.error({ error: error.cause ?? error }, "a gRPC call failed with an internal error");
  if (isGrpc(call.headers)) replyGrpcError(call.stream, error);
  else replyHttpError(call.stream, error);
}

function finish(call: Call, durationMs: number, { observe, logger }: GrpcParts): void {
  const { error, scope, cost } = call;
  const { operation, mainThreadMs, storeMs } = cost;
  const status = error?.status ?? 200;
  observe({ operation, status, durationMs, mainThreadMs, storeMs });
  logger.info(
    {
      operation,
      method: "gRPC",
      status,
      outcome: call.outcome,
      duration_ms: Math.round(durationMs * 10) / 10,
      cpu_ms: Math.round(mainThreadMs * 10) / 10,
      client_address: call.clientAddress,
      organization_id: scope?.organizationId,
      key_id: scope?.key.keyId,
      ...call.fields,
      ...(error === undefined ? {} : { error: error.message }),
    },
    "request",
  );
}
