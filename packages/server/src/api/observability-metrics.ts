/**
 * The query of metrics by name. Answers have the shape of Prometheus' query API
 * (https://prometheus.io/docs/prometheus/latest/querying/api/), with the query that was executed beside it.
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
        description: "Which metric: a name of docs/reference/metrics.md, or one that the server's configuration adds.",
      }),
      ...tenantFilters,
      agent_name: filter("Only what this agent did."),
      agent_class: filter("Only what agents of this class did, for example `ToolUseAgent`."),
      model_key: filter("Only calls of this model."),
      session_id: filter("Only this session."),
      status: optional(
        Type.Enum(["success", "failure", "timeout"]),
        "How it ended, for metrics of agents. Default `success`.",
      ),
      category: optional(Type.Enum([...contentCategories]), "Why content was refused, for `rai_rejection_total`."),
      percentile: optional(
        Type.Union([Type.String({ maxLength: 64 }), Type.Number()]),
        'For latencies: from 0 to 1, such as `"0.95"`, or from 1 to 100, such as `"95"`. Default "0.95".',
      ),
      time_window: optional(
        Type.String({ maxLength: 64 }),
        'How far to look back: an integer of at least 1 and `m` (minutes), `h` or `d`. Default "1h".',
      ),
      step: optional(
        Type.String({ maxLength: 64 }),
        'When given, the answer is a series of values this far apart over `time_window`, for example `"15m"`. Null or empty: "1h".',
      ),
    },
    { additionalProperties: false, description: "A query of a metric." },
  ),
);
export type MetricsQuery = TypeOf<typeof MetricsQuery>;

const sample = (description: string) =>
  Type.Array(Type.Union([Type.Number(), Type.String()]), { minItems: 2, maxItems: 2, description });

export const MetricsAnswer = schema(
  Type.Object(
    {
      status: Type.Literal("success", { description: "Always `success`; a failure is an error answer." }),
      query: Type.String({ description: "The PromQL query that was executed." }),
      data: Type.Object(
        {
          resultType: Type.Enum(["vector", "matrix"], {
            description:
              "`vector`: one value a series, at the present. `matrix`: values over time, when `step` was given.",
          }),
          result: Type.Array(
            Type.Object(
              {
                metric: Type.Record(Type.String(), Type.String(), { description: "The series' labels." }),
                value: Type.Optional(sample("Of a vector: a time in seconds since 1970 and a number as text.")),
                values: Type.Optional(
                  Type.Array(sample("A time in seconds since 1970 and a number as text."), {
                    description: "Of a matrix: the values in order of time.",
                  }),
                ),
              },
              { description: "A series." },
            ),
            { description: "The series, sorted by their labels; none when there is nothing to tell." },
          ),
          analysis: Type.Record(Type.String(), Type.Unknown(), { description: "Always empty." }),
        },
        { description: "The result." },
      ),
    },
    { description: "A metric in Prometheus' form." },
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
    "A metric of the key's organization by its name. The parameters may also stand in the query string; the body's win.",
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
            name: Type.String({ description: "What to give as `metric`." }),
            aliases: Type.Array(Type.String(), { description: "Other names of the same." }),
            group: Type.String({ description: "What it is about." }),
            description: Type.String({ description: "What it tells." }),
            unit: Type.String({ description: "The unit of its values; empty when not known." }),
            labels: Type.Array(Type.String(), { description: "The labels that its series have." }),
            filters: Type.Array(Type.String(), {
              description: "The parameters that it takes beside `organization_id`, `time_window` and `step`.",
            }),
          },
          { description: "A metric." },
        ),
        { description: "The metrics." },
      ),
    },
    { description: "The metrics that can be asked for by name." },
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
    "The names that `POST /observability/metrics` takes: those of docs/reference/metrics.md and of this server's configuration.",
  permission: "telemetry_read",
  answer: { type: "application/json", schema: MetricList, description: "The metrics." },
});
