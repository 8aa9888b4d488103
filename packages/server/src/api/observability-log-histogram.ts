/** The operation that counts an organization's logs over time. */
import { Type } from "typebox";
import { logFilters, logTimes } from "./observability-logs.ts";
import { operation, queryBodyBytes } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

export const LogHistogramQuery = schema(
  Type.Object(
    {
      ...logFilters,
      ...logTimes,
      step: optional(
        Type.String({ maxLength: 16 }),
        "Width of a bucket: an integer of at least 1, followed by `s` (seconds), `m`, `h` or `d`; at most 1000 buckets. By default, the server chooses a width that gives about 60 to 120 buckets.",
      ),
    },
    { additionalProperties: false, description: "Which log entries to count. An entry must match all filters." },
  ),
);
export type LogHistogramQuery = TypeOf<typeof LogHistogramQuery>;

const entryCount = (which: string) => Type.Integer({ description: `Number of entries ${which}.` });

export const LogHistogram = schema(
  Type.Object(
    {
      step_seconds: Type.Integer({ description: "Width of a bucket in seconds." }),
      total: entryCount("that match"),
      buckets: Type.Array(
        Type.Object(
          {
            start: Type.String({ description: "When the bucket begins, an RFC 3339 time; a multiple of the width." }),
            debug: entryCount("with the level `debug`"),
            info: entryCount("with the level `info`"),
            warning: entryCount("with the level `warning`"),
            error: entryCount("with the level `error`"),
          },
          { description: "The entries of one interval." },
        ),
        { description: "The buckets of the time range, earliest first, those without entries included." },
      ),
    },
    { description: "Numbers of log entries by time and level." },
  ),
);
export type LogHistogram = TypeOf<typeof LogHistogram>;

export const queryLogHistogram = operation({
  id: "queryLogHistogram",
  method: "POST",
  path: "/observability/logs/histogram",
  tag: "Observability",
  summary: "Count logs over time",
  description:
    "Returns the number of log entries of each level for each interval of the time range. Parameters may also be sent in the query string; those in the body take precedence.",
  permission: "telemetry_read",
  body: LogHistogramQuery,
  queryAsBody: true,
  maxBodyBytes: queryBodyBytes,
  answer: { type: "application/json", schema: LogHistogram, description: "The buckets, earliest first." },
  example: { min_severity: "warning", time_window: "6h" },
});
