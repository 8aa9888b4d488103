/** A real HTTP server on a free port with chosen routes and one valid key, for tests. */
import { EventEmitter, once } from "node:events";
import type { KeyCheck } from "../../src/http/authenticate.ts";
import type { Sessions } from "../../src/http/authenticate-session.ts";
import { ConnectionLimits } from "../../src/http/connection-limits.ts";
import { OpenRequests } from "../../src/http/open-requests.ts";
import { FailedKeys } from "../../src/http/failed-keys.ts";
import type { RequestAudit } from "../../src/http/request-audit.ts";
import type { FinishedRequest } from "../../src/http/request-context.ts";
import type { Route } from "../../src/http/route.ts";
import { startHttpServer, type Http2Server, type HttpSettings } from "../../src/http/server.ts";
import type { LogFields, Logger } from "../../src/logger.ts";
import { AppError } from "../../src/errors.ts";
import { testKey } from "./test-key.ts";

export const testSecret = "sk-test-key-of-the-http-tests";

const quickSettings: HttpSettings = {
  host: "127.0.0.1",
  port: 0,
  cors_origins: [],
  trusted_proxies: [],
  max_header_bytes: 16_384,
  max_json_body_bytes: 16_777_216,
  max_json_values: 50_000,
  max_request_memory_bytes: 536_870_912,
  header_timeout_ms: 10_000,
  body_timeout_ms: 10_000,
  body_idle_timeout_ms: 10_000,
  keep_alive_timeout_ms: 10_000,
  status_hold_ms: 10_000,
  heartbeat_interval_ms: 10_000,
  shutdown_delay_ms: 0,
  shutdown_timeout_ms: 5_000,
};

const checkTestKey: KeyCheck = (secret) => {
  if (secret !== testSecret) throw new AppError("invalid_api_key", "The API key is not known.");
  return testKey();
};

export function unlimitedConnections(): ConnectionLimits {
  const settings = { max_connections: 1_000_000, max_connections_per_client: 1_000_000, trusted_proxies: [] };
  return new ConnectionLimits(settings, { warn: () => {} });
}

export async function startTestHttp({
  routes,
  settings = {},
  checkKey = checkTestKey,
  sessions,
  failedKeys = new FailedKeys(1_000_000),
  http2,
  connectionLimits = unlimitedConnections(),
  openRequests = new OpenRequests(1_000_000),
  audit,
}: {
  routes: readonly Route[];
  settings?: Partial<HttpSettings>;
  checkKey?: KeyCheck;
  sessions?: Sessions;
  failedKeys?: FailedKeys;
  http2?: Http2Server;
  connectionLimits?: ConnectionLimits;
  openRequests?: OpenRequests;
  audit?: RequestAudit;
}) {
  const logged: LogFields[] = [];
  const finished: FinishedRequest[] = [];
  const events = new EventEmitter();
  const record = (fields: LogFields, message: string): void =>
    void logged.push({
      ...fields,
      message,
      ...(fields["error"] instanceof Error ? { error: fields["error"].stack } : {}),
    });
  const logger: Logger = { debug: record, info: record, warn: record, error: record };
  const server = await startHttpServer({
    settings: { ...quickSettings, ...settings },
    routes,
    logger,
    checkKey,
    sessions,
    failedKeys,
    connectionLimits,
    openRequests,
    http2,
    audit,
    observe: (exchange) => {
      finished.push(exchange);
      events.emit("finished");
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    logged,
    finished,
    /** Resolves when that many exchanges are over. */
    async untilFinished(count: number) {
      while (finished.length < count) await once(events, "finished");
    },
    close: () => server.close(),
    [Symbol.asyncDispose]: () => server.close(),
  };
}
