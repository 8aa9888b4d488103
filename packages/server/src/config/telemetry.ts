/** Where telemetry is kept and how much may wait to be written: `telemetry` of the configuration file. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../input-limits.ts";
import { bytes, milliseconds, httpUrl, secret } from "./setting-types.ts";
import { metricPresets, tokenPrices } from "./metric-presets.ts";
import { tracePresets } from "./trace-presets.ts";

const clickhouse = Type.Object(
  {
    url: Type.Optional(
      Type.String({
        pattern: httpUrl,
        env: "SOUNDING_CLICKHOUSE_URL",
        description:
          "Address of the server's HTTP interface: `https://clickhouse.example.com:8443`. Absent: the embedded store in `storage.data_dir`.",
      }),
    ),
    user: Type.String({ minLength: 1, default: "default", env: "SOUNDING_CLICKHOUSE_USER", description: "User." }),
    password: Type.Optional(secret("The user's password.", { env: "SOUNDING_CLICKHOUSE_PASSWORD" })),
    database: Type.String({
      pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
      default: "default",
      env: "SOUNDING_CLICKHOUSE_DATABASE",
      description: "Database of the tables; it must exist.",
    }),
    cluster: Type.Optional(
      Type.String({
        pattern: "^[\\w.-]+$",
        env: "SOUNDING_CLICKHOUSE_CLUSTER",
        description:
          "Name of the cluster in the servers' configuration. Tables are then replicated and distributed over it; the servers need the macros `shard` and `replica`. Absent: a single server.",
      }),
    ),
    compression: Type.Boolean({ default: true, description: "Compress rows on their way to the server and back." }),
  },
  { default: {}, description: "A ClickHouse server or cluster, 25.8 or later." },
);

export const telemetry = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description: "Keep telemetry. When false, the endpoints of telemetry answer 503.",
    }),
    clickhouse,
    embedded_memory_bytes: bytes(
      1_073_741_824,
      "Memory that the embedded store may use; a query or a write that needs more fails by itself.",
      limitsInput("Logs, traces and metrics", "overloaded"),
    ),
    write_timeout_ms: milliseconds(
      8000,
      "Longest wait until rows are durable, while the store is slow or down; then the sender gets a 503 and tries again. Shorter than the exporters' own limit, which is 10 s by default.",
    ),
    query_timeout_ms: milliseconds(
      15_000,
      "Longest time of one query, with the time in which it waits for other queries.",
      limitsInput("Logs, traces and metrics", "timeout"),
    ),
    concurrent_reads: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        description:
          "Statements of queries that read from the store at the same time; others wait, fairly between organizations. One organization may use all but one. Absent: twice the number of processors, at least 4 and at most 16.",
        ...limitsInput("Logs, traces and metrics", { instead: "the statement waits" }),
      }),
    ),
    queue_bytes: bytes(
      134_217_728,
      "Rows of all organizations that may wait to be written; more is a 503.",
      limitsInput("OpenTelemetry data", "overloaded"),
    ),
    organization_queue_bytes: bytes(
      33_554_432,
      "Rows of one organization that may wait to be written; more is a 429, so that one organization cannot fill the queue.",
      limitsInput("OpenTelemetry data", "rate_limited"),
    ),
    slow_trace_ms: milliseconds(10_000, "A span that takes this long makes its trace one of `slow_traces`."),
    trace_presets: tracePresets,
    metric_presets: metricPresets,
    token_prices: tokenPrices,
  },
  { default: {}, description: "Where telemetry is kept and how much may wait to be written." },
);
export type TelemetrySettings = Static<typeof telemetry>;
