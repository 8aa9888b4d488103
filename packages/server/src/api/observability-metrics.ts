/**
 * The operations for metrics by name. Responses have the format of Prometheus' query API
 * (https://prometheus.io/docs/prometheus/latest/querying/api/), plus the executed query.
 */
import { contentCategories } from "./content-categories.ts";
import { Type } from "typebox";
import { tenantFilters } from "./observability.ts";
import { operation, queryBodyBytes } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

const filter = (description: string) => optional(Type.String({ minLength: 1, maxLength: 4096 }), description);

export const MetricsQuery = schema(
  Type.Object(
    {
      metric: Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          "The metric: a name listed in docs/reference/metrics.md, or one that the server's configuration adds.",
      }),
      ...tenantFilters,
      service_name: filter(
        "Only activity of this service: `service.name` of what it sends. Of a call that Sounding served, the service is the application whose span of the call arrived in the same project, otherwise `sounding`.",
      ),
      agent_name: filter("Only activity of this agent."),
      agent_class: filter("Only activity of agents of this class, for example `ToolUseAgent`."),
      model_key: filter("Only calls of this model."),
      session_id: filter("Only this session."),
      user_id: filter(
        "Only calls for this end user: `user` or `safety_identifier` of a chat completion, the header `x-user-id`, or `user.id` of a span.",
      ),
      key_id: filter("Only calls that this server served with this API key."),
      status: optional(
        Type.Enum(["success", "failure", "timeout"]),
        "Outcome to count, for agent metrics. Default `success`.",
      ),
      category: optional(Type.Enum([...contentCategories]), "Category of the rejection, for `rai_rejection_total`."),
      percentile: optional(
        Type.Union([Type.String({ maxLength: 64 }), Type.Number()]),
        'Quantile of latencies: 0 to 1, such as `"0.95"`, or a percentile from 1 to 100, such as `"95"`. Default "0.95".',
      ),
      time_window: optional(
        Type.String({ maxLength: 64 }),
        'How far to look back from `end`: an integer of at least 1, followed by `m` (minutes), `h` or `d`. Default "1h".',
      ),
      end: optional(
        Type.String({ maxLength: 64 }),
        "When the window ends: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Default: now; with a `step` and a `time_window` of at least 12 minutes or hours, the end of the current minute or hour.",
      ),
      step: optional(
        Type.String({ maxLength: 64 }),
        'Return a time series with values at this interval over `time_window`, for example `"15m"`. Null or empty: "1h".',
      ),
    },
    { additionalProperties: false, description: "A metrics query." },
  ),
);
export type MetricsQuery = TypeOf<typeof MetricsQuery>;

const sample = (description: string) =>
  Type.Array(Type.Union([Type.Number(), Type.String()]), { minItems: 2, maxItems: 2, description });

export const MetricsAnswer = schema(
  Type.Object(
    {
      status: Type.Literal("success", { description: "Always `success`; failures are error responses." }),
      query: Type.String({ description: "The PromQL query that was executed." }),
      data: Type.Object(
        {
          resultType: Type.Enum(["vector", "matrix"], {
            description: "`vector`: one current value per series. `matrix`: values over time, if `step` was sent.",
          }),
          result: Type.Array(
            Type.Object(
              {
                metric: Type.Record(Type.String(), Type.String(), { description: "The series' labels." }),
                value: Type.Optional(sample("In a vector: UNIX time in seconds, and the value as text.")),
                values: Type.Optional(
                  Type.Array(sample("UNIX time in seconds, and the value as text."), {
                    description: "In a matrix: the values in order of time.",
                  }),
                ),
              },
              { description: "A series." },
            ),
            { description: "The series, sorted by their labels; empty if there is no data." },
          ),
          analysis: Type.Record(Type.String(), Type.Unknown(), { description: "Always empty." }),
        },
        { description: "The result." },
      ),
    },
    { description: "A metric in Prometheus' response format." },
  ),
);
export type MetricsAnswer = TypeOf<typeof MetricsAnswer>;

export const queryMetrics = operation({
  id: "queryMetrics",
  method: "POST",
  path: "/observability/metrics",
  tag: "Observability",
  summary: "Query metrics",
  description:
    "Returns a metric of the key's organization. Parameters may also be sent in the query string; those in the body take precedence.",
  permission: "telemetry_read",
  body: MetricsQuery,
  queryAsBody: true,
  maxBodyBytes: queryBodyBytes,
  answer: { type: "application/json", schema: MetricsAnswer, description: "The metric's values." },
  example: { metric: "token_consumption", time_window: "24h", step: "1h" },
});

export const MetricList = schema(
  Type.Object(
    {
      data: Type.Array(
        Type.Object(
          {
            name: Type.String({ description: "Value to send as `metric`." }),
            aliases: Type.Array(Type.String(), { description: "Alternative names." }),
            group: Type.String({ description: "Topic of the metric." }),
            description: Type.String({ description: "What the metric measures." }),
            unit: Type.String({ description: "Unit of the values; empty if unknown." }),
            labels: Type.Array(Type.String(), { description: "Labels of the metric's series." }),
            filters: Type.Array(Type.String(), {
              description: "Parameters it accepts in addition to `organization_id`, `time_window`, `end` and `step`.",
            }),
          },
          { description: "A metric." },
        ),
        { description: "The metrics." },
      ),
    },
    { description: "The metrics that can be queried by name." },
  ),
);
export type MetricList = TypeOf<typeof MetricList>;

export const listMetrics = operation({
  id: "listMetrics",
  method: "GET",
  path: "/observability/metrics",
  tag: "Observability",
  summary: "List metrics",
  description:
    "Lists the names that `POST /observability/metrics` accepts: those in docs/reference/metrics.md and those that the server's configuration adds.",
  permission: "telemetry_read",
  answer: { type: "application/json", schema: MetricList, description: "The metrics." },
});
