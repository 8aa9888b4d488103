/** The server's address, and limits on connections and requests: `server` of the configuration file. */
import { Type } from "typebox";
import { limitsInput } from "../input-limits.ts";
import { logFormats, logLevels } from "../logger.ts";
import { serverRoles } from "../server-role.ts";
import { bytes, httpUrl, milliseconds } from "./setting-types.ts";

/** Of `auto`, and of the setting. */
export const mostWorkers = 64;

export const server = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      default: "127.0.0.1",
      env: "SOUNDING_LISTEN_HOST",
      envAlias: "SOUNDING_HOST",
      description: "Address to listen on; `0.0.0.0` or `::` for all interfaces.",
    }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 4141,
      env: "SOUNDING_LISTEN_PORT",
      // Kubernetes sets it to "tcp://…" for a service named "sounding"; such a value is ignored.
      envAlias: "SOUNDING_PORT",
      description: "TCP port to listen on; 0 lets the system choose one.",
    }),
    public_url: Type.Optional(
      Type.String({
        pattern: httpUrl,
        env: "SOUNDING_PUBLIC_URL",
        description:
          "Address under which people reach this server, such as `https://sounding.example.com`, for links to the web console. Absent: the address of the request, if it is this machine's or a trusted proxy reports it, otherwise the address that the server listens on.",
      }),
    ),
    workers: Type.Union([Type.Integer({ minimum: 1, maximum: mostWorkers }), Type.Literal("auto")], {
      default: 1,
      env: "SOUNDING_WORKERS",
      description:
        "Number of processes that serve requests; `auto`: as many as there are processors. They share the port, the limits, the circuit breakers and the telemetry store. Limits on memory and on concurrent calls of targets count per process.",
    }),
    worker_silence_ms: Type.Integer({
      minimum: 1_000,
      maximum: 3_600_000,
      default: 30_000,
      description:
        "With several workers: a worker whose main thread does not respond for this many milliseconds is killed and replaced.",
    }),
    role: Type.Enum([...serverRoles], {
      default: "all",
      env: "SOUNDING_ROLE",
      description:
        "What the server does in a fleet. `gateway`: calls to models. `ingest`: receives telemetry. `query`: telemetry queries, alerts, and sums in the background. `all`: everything. Administration and health are on every server. Roles other than `all` need `storage.database_url`, and `telemetry.clickhouse.url` unless telemetry is disabled.",
    }),
    log_level: Type.Enum([...logLevels], {
      default: "info",
      env: "SOUNDING_LOG_LEVEL",
      description: "Minimum level of log lines to write. Changes take effect without a restart.",
    }),
    log_format: Type.Enum([...logFormats], {
      default: "auto",
      env: "SOUNDING_LOG_FORMAT",
      description:
        "`json`: one JSON object per line, with all fields. `text`: one short line for people. `auto`: `text` if standard error is a terminal, otherwise `json`.",
    }),
    docs: Type.Boolean({ default: true, description: "Serve `/docs` and `/openapi.json`." }),
    cors_origins: Type.Array(
      Type.String({ minLength: 1, description: "An origin, such as `https://app.example.com`." }),
      {
        maxItems: 1000,
        default: [],
        description: "Origins whose web pages may call the server (CORS); `*` allows all. Empty: none.",
      },
    ),
    trusted_proxies: Type.Array(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description: "An address, a CIDR range, `loopback`, `linklocal` or `uniquelocal`.",
      }),
      {
        maxItems: 1000,
        default: [],
        description:
          "Proxies whose `X-Forwarded-For` header is trusted to report the client's address, for logs, spans and throttling, and whose `X-Forwarded-Proto` and `X-Forwarded-Host` headers report the address of the web console. Empty: none.",
      },
    ),
    max_header_bytes: bytes(
      16_384,
      "Largest total size of a request's headers; a larger one is a 431.",
      limitsInput("HTTP", "headers_too_large"),
    ),
    max_json_body_bytes: bytes(
      16_777_216,
      "Largest JSON body; a larger one is a 413. Queries accept at most 1 MiB and the admin API at most 256 KiB, even if this value is larger.",
      limitsInput("HTTP", "payload_too_large"),
    ),
    max_json_values: Type.Integer({
      minimum: 100,
      maximum: 10_000_000,
      default: 50_000,
      ...limitsInput("HTTP", "payload_too_large"),
      description:
        "Maximum number of values and member names in a JSON body; more is a 413. Parsing 50 000 takes up to 40 ms, which blocks the server's event loop.",
    }),
    max_request_memory_bytes: bytes(
      536_870_912,
      "Memory for all requests in progress: bodies, their parsed form and results. One organization may use half of it, and no more than it leaves free; requests without a key have a sixteenth of their own. More is a 429 or a 503. OTLP has its own limit, `otlp.max_pending_body_bytes`.",
      limitsInput("HTTP", "overloaded"),
    ),
    max_failed_keys_per_minute: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 60,
      ...limitsInput("HTTP", "rate_limited"),
      description:
        "Maximum number of requests with an incorrect API key per client address and minute; more get a 429 with `Retry-After` instead of a 401. Requests with a correct key are not affected. IPv6 clients are grouped by /64 network. OTLP/gRPC counts too.",
    }),
    max_connections: Type.Integer({
      minimum: 16,
      maximum: 1_000_000,
      default: 16_384,
      ...limitsInput("HTTP", { instead: "the connection is closed" }),
      description:
        "Maximum number of open connections, whatever they speak. Where the process may open fewer files, the limit is lower by 256 than their number.",
    }),
    max_connections_per_client: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 4_096,
      ...limitsInput("HTTP", { instead: "the connection is closed" }),
      description:
        "Maximum number of open connections from one client address, at most half of all. IPv6 clients are grouped by /64 network. Connections from `server.trusted_proxies` have only the limit in total.",
    }),
    max_open_requests_per_organization: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 4_096,
      ...limitsInput("HTTP", "rate_limited"),
      description:
        "Maximum number of requests, gRPC calls and WebSockets that one organization has open; more get a 429.",
    }),
    header_timeout_ms: milliseconds(
      15_000,
      "Longest time for a request's headers to arrive.",
      limitsInput("HTTP", "timeout"),
    ),
    body_timeout_ms: milliseconds(
      300_000,
      "Longest time for a whole request, headers and body, to arrive.",
      limitsInput("HTTP", "timeout"),
    ),
    body_idle_timeout_ms: milliseconds(
      30_000,
      "Longest time in which nothing arrives of a request's body, or of a gRPC call's message, before the request is ended.",
      limitsInput("HTTP", "timeout"),
    ),
    keep_alive_timeout_ms: milliseconds(
      75_000,
      "How long an idle connection is kept open, also one of OTLP/gRPC. Set it longer than the idle timeout of a load balancer in front of the server.",
    ),
    status_hold_ms: milliseconds(
      30_000,
      "How long the status of a stream is held back while Sounding waits for the engine's first frame. Until then, a failure is still an HTTP error.",
    ),
    heartbeat_interval_ms: milliseconds(15_000, "Silence in a stream after which a keep-alive is sent."),
    shutdown_delay_ms: Type.Integer({
      minimum: 0,
      maximum: 600_000,
      default: 0,
      description:
        "How long the server keeps accepting requests after SIGTERM, while `/readyz` is a 503 and each response asks the client to close its connection. Set it to the time in which a load balancer notices, so that no request meets a closed port.",
    }),
    shutdown_timeout_ms: milliseconds(
      30_000,
      "How long calls in flight may continue after SIGTERM and `server.shutdown_delay_ms` before they are aborted.",
    ),
  },
  { default: {}, description: "The server's address, and limits on connections and requests." },
);
