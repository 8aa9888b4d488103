/**
 * Where telemetry is stored, and the limits on queries and on the write queue: `telemetry` of the configuration file.
 */
import { Type, type Static } from "typebox";
import { limitsInput } from "../input-limits.ts";
import { bytes, milliseconds, httpUrl, secret } from "./setting-types.ts";
import { metricPresets } from "./metric-presets.ts";
import { currency, exchangeRates, organizationPrices, publishedPrices, tokenPrices } from "./token-prices.ts";
import { tracePresets } from "./trace-presets.ts";

/** Pattern of the name of a storage policy or volume. */
const storageName = "^[A-Za-z_][A-Za-z0-9_-]{0,127}$";
const addressCount = { minItems: 1, maxItems: 16 };

const clickhouse = Type.Object(
  {
    url: Type.Optional(
      Type.Union([Type.String({ pattern: httpUrl }), Type.Array(Type.String({ pattern: httpUrl }), addressCount)], {
        env: "SOUNDING_CLICKHOUSE_URL",
        description:
          "Address of the server's HTTP interface, such as `https://clickhouse.example.com:8443`, or a list of addresses of one cluster, in the environment separated by commas. Statements go to the first address until it fails, then to the next one that answers. Absent: the embedded store in `storage.data_dir`.",
      }),
    ),
    user: Type.String({ minLength: 1, default: "default", env: "SOUNDING_CLICKHOUSE_USER", description: "User." }),
    password: Type.Optional(secret("The user's password.", { env: "SOUNDING_CLICKHOUSE_PASSWORD" })),
    database: Type.String({
      pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
      default: "default",
      env: "SOUNDING_CLICKHOUSE_DATABASE",
      description: "Database that holds the tables; it must exist.",
    }),
    cluster: Type.Optional(
      Type.String({
        pattern: "^[\\w.-]+$",
        env: "SOUNDING_CLICKHOUSE_CLUSTER",
        description:
          "Name of the cluster in the servers' configuration. Tables are then replicated and distributed across it; the servers need the macros `shard` and `replica`. Absent: a single server.",
      }),
    ),
    storage_policy: Type.Optional(
      Type.String({
        pattern: storageName,
        env: "SOUNDING_CLICKHOUSE_STORAGE_POLICY",
        description:
          "Name of a storage policy in the servers' configuration, for all tables. Existing tables are changed at the next start; the policy must then contain all volumes of their present one. Absent: tables keep the policy that they have, and new ones get the server's default.",
      }),
    ),
    cold_after_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 36_500,
        env: "SOUNDING_CLICKHOUSE_COLD_AFTER_DAYS",
        description:
          "Age in days at which rows of spans, logs and metrics move to `cold_volume`. Needs `storage_policy`. Absent: tables keep the rule that they have, and new ones get none.",
      }),
    ),
    cold_volume: Type.Optional(
      Type.String({
        pattern: storageName,
        env: "SOUNDING_CLICKHOUSE_COLD_VOLUME",
        description: "Name of the volume in `storage_policy` to which old rows move. Absent: `cold`.",
      }),
    ),
    compression: Type.Boolean({ default: true, description: "Compress data between Sounding and the server." }),
  },
  { default: {}, description: "A ClickHouse server or cluster, 25.8 or later." },
);

export const telemetry = Type.Object(
  {
    enabled: Type.Boolean({
      default: true,
      description: "Store telemetry. If false, the telemetry endpoints return 503.",
    }),
    clickhouse,
    embedded_memory_bytes: bytes(
      1_073_741_824,
      "Memory that the embedded store may use. One organization's queries may hold three eighths of it; a query that needs more fails, others are not affected. Results that are being sent come on top.",
      limitsInput("Logs, traces and metrics", "overloaded"),
    ),
    write_timeout_ms: milliseconds(
      8000,
      "Longest wait until records are durable while the store is slow or down; then the sender gets a 503 and retries. Keep it below the exporters' timeout, which is 10 s by default.",
    ),
    query_timeout_ms: milliseconds(
      15_000,
      "Longest time of one query, including the wait for other queries.",
      limitsInput("Logs, traces and metrics", "timeout"),
    ),
    concurrent_reads: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 200,
        description:
          "Maximum number of query statements that read from the store concurrently; others wait in a queue that is fair between organizations. One organization may use all but one. Absent: twice the number of processors, at least 4 and at most 16. The embedded store runs at most 8.",
        ...limitsInput("Logs, traces and metrics", { instead: "the statement waits" }),
      }),
    ),
    queue_bytes: bytes(
      134_217_728,
      "Size of the write queue of all organizations; more is a 503.",
      limitsInput("OpenTelemetry data", "overloaded"),
    ),
    organization_queue_bytes: bytes(
      33_554_432,
      "Size of one organization's share of the write queue; more is a 429, so one organization cannot fill the queue.",
      limitsInput("OpenTelemetry data", "rate_limited"),
    ),
    journal: Type.Enum(["on", "off"], {
      default: "on",
      description:
        "`on`: acknowledge rows once they are flushed to a journal in `storage.data_dir`, and insert them in large groups up to a second later; rows are accepted while the store is down. `off`: acknowledge rows once the store has them.",
    }),
    journal_bytes: bytes(
      1_073_741_824,
      "Size of the journal: rows of all organizations that are not in the store yet. When it is full, senders wait up to `write_timeout_ms` and get a 503.",
      limitsInput("OpenTelemetry data", "overloaded"),
    ),
    organization_journal_bytes: bytes(
      268_435_456,
      "Size of one organization's share of the journal. When it is full, the organization's senders wait up to `write_timeout_ms` and get a 429.",
      limitsInput("OpenTelemetry data", "rate_limited"),
    ),
    rollups: Type.Boolean({
      default: true,
      description:
        "Keep sums of spans, calls and log entries by minute, so that queries over days need not read every row. Results are the same without.",
    }),
    rollup_delay_ms: milliseconds(
      600_000,
      "How long no row of an hour must have been written before the hour is summed. Keep it above a minute, and above `write_timeout_ms`.",
    ),
    sweep_delay_ms: milliseconds(
      60_000,
      "How long after a deletion the server looks for rows that were on the way. Keep it above the longest request that sends telemetry, and above `write_timeout_ms`.",
    ),
    slow_trace_ms: milliseconds(10_000, "Duration from which a span makes its trace one of `slow_traces`."),
    trace_presets: tracePresets,
    metric_presets: metricPresets,
    token_prices: tokenPrices,
    organization_prices: organizationPrices,
    published_prices: publishedPrices,
    currency,
    exchange_rates: exchangeRates,
    cost_in_answers: Type.Boolean({
      default: true,
      description:
        "Tell what a call cost in its answer (`usage.cost`, `usage.cost_details` and the header `x-cost`), if its model has a price. Streams tell it with their usage. Turn it off for clients that refuse members that they do not know.",
    }),
  },
  { default: {}, description: "Where telemetry is stored, and the limits on queries and on the write queue." },
);
export type TelemetrySettings = Static<typeof telemetry>;
