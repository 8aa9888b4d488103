/** The operation that counts an organization's traces over time. */
import { Type } from "typebox";
import { defaultTraceWindow, spanFilters, tenantFilters, traceTimes } from "./observability.ts";
import { operation, queryBodyBytes } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

export const TraceHistogramQuery = schema(
  Type.Object(
    {
      trace: optional(
        Type.String({ minLength: 1, maxLength: 256 }),
        "Which traces, by the same names as in queries of traces. Default: `all_traces`.",
      ),
      ...tenantFilters,
      ...spanFilters,
      ...traceTimes(defaultTraceWindow),
      step: optional(
        Type.String({ maxLength: 16 }),
        "Width of a bucket: an integer of at least 1, followed by `s` (seconds), `m`, `h` or `d`; at most 1000 buckets. By default, the server chooses a width that gives about 60 to 120 buckets.",
      ),
    },
    {
      additionalProperties: false,
      description:
        "Which traces to count. A trace matches if at least one of its spans matches `trace` and all filters.",
    },
  ),
);
export type TraceHistogramQuery = TypeOf<typeof TraceHistogramQuery>;

const milliseconds = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

export const TraceHistogram = schema(
  Type.Object(
    {
      step_seconds: Type.Integer({ description: "Width of a bucket in seconds." }),
      buckets: Type.Array(
        Type.Object(
          {
            start: Type.String({ description: "When the bucket begins, an RFC 3339 time; a multiple of the width." }),
            traces: Type.Integer({ description: "Number of traces that started in the bucket." }),
            failed: Type.Integer({ description: "Number of these whose root span has the status `error`." }),
            duration_ms: Type.Object(
              {
                p50: milliseconds("The median; null without traces."),
                p95: milliseconds("The 95th percentile; null without traces."),
              },
              { description: "Durations of the traces in milliseconds." },
            ),
          },
          { description: "The traces of one interval." },
        ),
        { description: "The buckets of the time range, earliest first, those without traces included." },
      ),
    },
    { description: "Traces over time." },
  ),
);
export type TraceHistogram = TypeOf<typeof TraceHistogram>;

export const queryTraceHistogram = operation({
  id: "queryTraceHistogram",
  method: "POST",
  path: "/observability/traces/histogram",
  tag: "Observability",
  summary: "Count traces over time",
  description:
    "Returns the number of traces, the number of failed traces and the durations for each interval of the time range. A trace that started before the range counts in the first bucket. Parameters may also be sent in the query string; those in the body take precedence.",
  permission: "telemetry_read",
  body: TraceHistogramQuery,
  queryAsBody: true,
  maxBodyBytes: queryBodyBytes,
  answer: { type: "application/json", schema: TraceHistogram, description: "The buckets, earliest first." },
  example: { trace: "inference_traces", time_window: "1h" },
});
