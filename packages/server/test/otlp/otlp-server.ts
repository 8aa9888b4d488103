/** OTLP over real sockets, HTTP and gRPC, with a recording store. */
import { AppError } from "../../src/errors.ts";
import type { KeyCheck } from "../../src/http/authenticate.ts";
import { createClientAddress } from "../../src/http/client-address.ts";
import { OpenRequests } from "../../src/http/open-requests.ts";
import { FailedKeys } from "../../src/http/failed-keys.ts";
import type { Route } from "../../src/http/route.ts";
import { silentLogger } from "../../src/logger.ts";
import { type FinishedCall, type GrpcParts, createGrpcServer } from "../../src/telemetry/otlp/grpc-server.ts";
import { createOtlp } from "../../src/telemetry/otlp/otlp.ts";
import { startTestHttp, testSecret, unlimitedConnections } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";
import { RecordingStore } from "./recording-store.ts";
import { noReportedCosts } from "../support/test-costs.ts";

export async function startOtlp({
  limitBytes = 67_108_864,
  pendingBytes = 268_435_456,
  key = testKey(),
  shutdownTimeoutMs = 5000,
  keepAliveTimeoutMs = 75_000,
  failedKeys = new FailedKeys(1_000_000),
  bodyIdleTimeoutMs = 10_000,
  openRequests = new OpenRequests(1_000_000),
  admit = undefined as GrpcParts["admit"],
  cipher = undefined as Parameters<typeof createOtlp>[0]["cipher"],
} = {}) {
  const store = new RecordingStore();
  const encodings = new Set<string>();
  const calls: FinishedCall[] = [];
  const otlp = createOtlp({
    costs: noReportedCosts,
    store,
    settingsOf: () => Promise.resolve({ retention_days: 30, record_content: false }),
    logger: silentLogger,
    ...(cipher && { cipher }),
    settings: { max_body_bytes: limitBytes, max_pending_body_bytes: pendingBytes },
  });
  const checkKey: KeyCheck = (secret) => {
    if (secret !== testSecret) throw new AppError("invalid_api_key", "The API key is not known.");
    return key;
  };
  const noted = otlp.routes.map((route): Route => ({
    ...route,
    serve: (input) => {
      encodings.add(`${String(input.headers["content-type"])} ${String(input.headers["content-encoding"] ?? "none")}`);
      return route.serve(input);
    },
  }));
  const connectionLimits = unlimitedConnections();
  const grpc = createGrpcServer({
    ingest: otlp.ingest,
    failedKeys,
    connectionLimits,
    openRequests,
    checkKey,
    clientAddressOf: createClientAddress([]),
    admit,
    logger: silentLogger,
    limits: otlp.limits,
    settings: { bodyTimeoutMs: 10_000, bodyIdleTimeoutMs, keepAliveTimeoutMs, shutdownTimeoutMs },
    observe: (call) => calls.push(call),
  });
  const http = await startTestHttp({
    routes: noted,
    checkKey,
    failedKeys,
    http2: grpc,
    connectionLimits,
    openRequests,
  });
  return {
    store,
    url: http.url,
    /** The same port as HTTP/1.1. */
    grpcUrl: http.url,
    listenForGrpc: () => grpc.listen({ host: "127.0.0.1", port: 0 }),
    calls,
    closeGrpc: () => grpc.close(),
    /** Content types and compressions of the HTTP requests received. */
    encodings: () => [...encodings],
    post: (path: string, body: Uint8Array | string, headers: Record<string, string> = {}) =>
      fetch(http.url + path, {
        method: "POST",
        body,
        headers: { authorization: `Bearer ${testSecret}`, "content-type": "application/x-protobuf", ...headers },
      }),
    async [Symbol.asyncDispose]() {
      await http.close();
      await otlp.close();
    },
  };
}
