/** How the server listens, and the limits of a connection: `server` of the configuration file. */
import { Type } from "typebox";
import { limitsInput } from "../input-limits.ts";
import { logLevels } from "../logger.ts";
import { bytes, milliseconds } from "./setting-types.ts";

export const server = Type.Object(
  {
    // Not SOUNDING_PORT: Kubernetes sets that to "tcp://…" beside a service that is called "sounding".
    host: Type.String({
      minLength: 1,
      default: "127.0.0.1",
      env: "SOUNDING_LISTEN_HOST",
      description: "Address to listen on; `0.0.0.0` or `::` for every interface.",
    }),
    port: Type.Integer({
      minimum: 0,
      maximum: 65_535,
      default: 4141,
      env: "SOUNDING_LISTEN_PORT",
      description: "TCP port to listen on; 0 lets the system choose one.",
    }),
    log_level: Type.Enum([...logLevels], {
      default: "info",
      env: "SOUNDING_LOG_LEVEL",
      description: "Least important log lines that are written. May change while the server runs.",
    }),
    docs: Type.Boolean({ default: true, description: "Serve `/docs` and `/openapi.json`." }),
    cors_origins: Type.Array(
      Type.String({ minLength: 1, description: "An origin, such as `https://app.example.com`." }),
      {
        maxItems: 1000,
        default: [],
        description: "Origins whose web pages may call the server (CORS); `*` for all. Empty: none.",
      },
    ),
    trusted_proxies: Type.Array(
      Type.String({ minLength: 1, maxLength: 100, description: "An address or a CIDR range." }),
      {
        maxItems: 1000,
        default: [],
        description: "Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed. Empty: none.",
      },
    ),
    max_header_bytes: bytes(
      16_384,
      "Largest size of a request's headers together; more is a 431.",
      limitsInput("HTTP", "headers_too_large"),
    ),
    max_json_body_bytes: bytes(
      16_777_216,
      "Largest JSON body; more is a 413. Queries take at most 1 MiB and the admin API at most 256 KiB, even if this is larger.",
      limitsInput("HTTP", "payload_too_large"),
    ),
    max_json_values: Type.Integer({
      minimum: 100,
      maximum: 10_000_000,
      default: 50_000,
      ...limitsInput("HTTP", "payload_too_large"),
      description:
        "Most values and member names in a JSON body; more is a 413. Parsing 50 000 takes up to 40 ms, during which nothing else runs.",
    }),
    max_request_memory_bytes: bytes(
      536_870_912,
      "Memory that the requests in progress may hold together: bodies, what they are parsed into, results. One organization may use half. More is a 429 or a 503. OTLP has `otlp.max_pending_body_bytes` instead.",
      limitsInput("HTTP", "overloaded"),
    ),
    max_failed_keys_per_minute: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 60,
      ...limitsInput("HTTP", "rate_limited"),
      description:
        "Most requests with an incorrect API key per client address and minute; more get a 429 with `Retry-After` instead of a 401. Requests with a correct key are not affected. An IPv6 client is its /64 network. OTLP/gRPC counts too.",
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
    keep_alive_timeout_ms: milliseconds(
      75_000,
      "Time an idle connection is kept; longer than the idle time of a load balancer in front.",
    ),
    status_hold_ms: milliseconds(
      30_000,
      "Longest time the status of a stream is held back while waiting for the engine's first frame, so that a failure can still be an HTTP error.",
    ),
    heartbeat_interval_ms: milliseconds(15_000, "Silence in a stream after which a keep-alive is sent."),
    shutdown_timeout_ms: milliseconds(
      30_000,
      "Time that calls in flight have to end after SIGTERM before they are cut off.",
    ),
  },
  { default: {}, description: "How the server listens, and the limits of a connection." },
);
