/** The operation that exports telemetry as OTLP, page by page. */
import { Type } from "typebox";
import { tenantFilters, timeParameter, timeWindow } from "./observability.ts";
import { operation, queryBodyBytes } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

export const exportedSignals = ["traces", "logs", "metrics"] as const;
export type ExportedSignal = (typeof exportedSignals)[number];

/** The header with the cursor of the next page. */
export const nextCursorHeader = "x-next-cursor";

export const TelemetryExport = schema(
  Type.Object(
    {
      signal: Type.Enum([...exportedSignals], { description: "What to export." }),
      organization_id: tenantFilters.organization_id,
      project_name: optional(
        Type.String({ minLength: 1, maxLength: 256 }),
        "The project to export. Default: the key's project, otherwise `default`.",
      ),
      time_window: timeWindow(
        'How far to look back from `end`: an integer of at least 1, followed by `m` (minutes), `h` or `d`. Default "24h".',
      ),
      start: timeParameter(
        "Only records at this time or later: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Not together with `time_window`. Spans have the time of their start.",
      ),
      end: timeParameter(
        "Only records before this time: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Default: now.",
      ),
      limit: optional(
        Type.Integer({ minimum: 1, maximum: 10_000 }),
        "Maximum number of spans, log records or data points of the page, 1 to 10000. Default 1000.",
      ),
      cursor: optional(
        Type.String({ maxLength: 4096 }),
        `The header \`${nextCursorHeader}\` of the previous page. It contains the time range, so that a page continues where the previous one ended.`,
      ),
    },
    { additionalProperties: false, description: "Which telemetry to export." },
  ),
);
export type TelemetryExport = TypeOf<typeof TelemetryExport>;

export const exportTelemetry = operation({
  id: "exportTelemetry",
  method: "POST",
  path: "/observability/export",
  tag: "Observability",
  summary: "Export telemetry as OTLP",
  description: `Returns a page of one project's telemetry, oldest first, as JSON lines: each line is an export request in OTLP/JSON, as the OpenTelemetry Collector's file exporter writes it, and can be sent to \`/v1/traces\`, \`/v1/logs\` or \`/v1/metrics\`. Metrics are ordered by name and series. If there is another page, the header \`${nextCursorHeader}\` has its cursor. Records that arrive during an export are included if their place in the order has not passed.`,
  permission: "telemetry_read",
  body: TelemetryExport,
  maxBodyBytes: queryBodyBytes,
  answer: { type: "application/x-ndjson", description: "Export requests in OTLP/JSON, one per line." },
  example: { signal: "traces", time_window: "1h" },
});
