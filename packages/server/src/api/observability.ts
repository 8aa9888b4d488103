/**
 * Queries over an organization's telemetry. The answers have the shapes of the stores that tools know:
 * logs those of Loki (https://grafana.com/docs/loki/latest/reference/loki-http-api/), traces those of Tempo
 * (https://grafana.com/docs/tempo/latest/api_docs/).
 */
import { Type } from "typebox";
import { operation, queryBodyBytes } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

/** The levels that logs are filtered by, each with OpenTelemetry's severity numbers that belong to it. */
export const severities = ["debug", "info", "warning", "error"] as const;
export type Severity = (typeof severities)[number];

/** Of every query of telemetry. */
export const tenantFilters = {
  organization_id: optional(
    Type.String({ maxLength: 256 }),
    "The key's own organization, which is also the default; any other is refused.",
  ),
  project_name: optional(
    Type.String({ minLength: 1, maxLength: 256 }),
    "Only telemetry of this project. Default: the key's project where it is bound to one, else all projects.",
  ),
};

const timeWindow = (description: string) => optional(Type.String({ maxLength: 64 }), description);

export const LogsQuery = schema(
  Type.Object(
    {
      ...tenantFilters,
      severity: optional(Type.Enum([...severities]), "Only entries of exactly this level."),
      time_window: timeWindow(
        'How far to look back: an integer of at least 1 and `m` (minutes), `h` or `d`. Default "24h".',
      ),
      limit: optional(
        Type.Integer({ minimum: 1, maximum: 5000 }),
        "Most entries over all streams, 1 to 5000: the newest ones. Default 500.",
      ),
    },
    { additionalProperties: false, description: "A query of logs." },
  ),
);
export type LogsQuery = TypeOf<typeof LogsQuery>;

export const LogsAnswer = schema(
  Type.Object(
    {
      status: Type.Literal("success", { description: "Always `success`; a failure is an error answer." }),
      data: Type.Object(
        {
          resultType: Type.Literal("streams", { description: "Always `streams`." }),
          result: Type.Array(
            Type.Object(
              {
                stream: Type.Record(Type.String(), Type.String(), {
                  description:
                    "The labels: `service_name`, `project_name`, `severity` (debug, info, warning or error), and where there is one `severity_text`, `trace_id`, `span_id`, `scope_name`, `scope_version` and the resource's attributes that tell instances apart.",
                }),
                values: Type.Array(Type.Array(Type.String(), { minItems: 2, maxItems: 2 }), {
                  description: "Pairs of a time, nanoseconds since 1970 as a string, and a line; newest first.",
                }),
              },
              { description: "Entries with the same labels." },
            ),
            { description: "The streams, that with the newest entry first." },
          ),
          stats: Type.Record(Type.String(), Type.Unknown(), {
            description: "About this answer: `summary.totalEntriesReturned`.",
          }),
        },
        { description: "The result." },
      ),
    },
    { description: "Log entries in Loki's form." },
  ),
);
export type LogsAnswer = TypeOf<typeof LogsAnswer>;

export const TracesQuery = schema(
  Type.Object(
    {
      trace: Type.String({
        minLength: 1,
        maxLength: 256,
        description:
          "Which traces: `all_traces`, `inference_traces`, `agent_traces`, `distiller_traces`, `error_traces`, `slow_traces`, or a name that the server's configuration adds.",
      }),
      ...tenantFilters,
      trace_id: optional(
        Type.String({ pattern: "^[0-9a-fA-F]{32}$", maxLength: 32 }),
        "One trace by its ID, 32 hexadecimal digits, whatever `trace` says and however old it is, unless `time_window` is given too.",
      ),
      time_window: timeWindow(
        'How far to look back: an integer of at least 1 and `m` (minutes), `h` or `d`. Default "1h".',
      ),
      detail: optional(Type.Boolean(), "Whether each trace comes with its spans. Default true."),
      limit: optional(
        Type.Integer({ minimum: 1, maximum: 1000 }),
        "Most traces, 1 to 1000: the newest ones. Default 100.",
      ),
    },
    { additionalProperties: false, description: "A query of traces." },
  ),
);
export type TracesQuery = TypeOf<typeof TracesQuery>;

const attributeList = Type.Array(Type.Record(Type.String(), Type.Unknown()), {
  description: "Attributes in OpenTelemetry's JSON: `key` and `value`.",
});

const batch = Type.Object(
  {
    resource: Type.Object(
      { attributes: Type.Optional(attributeList) },
      { additionalProperties: true, description: "What made the spans: a service and where it runs." },
    ),
    scopeSpans: Type.Array(
      Type.Object(
        {
          scope: Type.Record(Type.String(), Type.Unknown(), { description: "The library that made the spans." }),
          spans: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
            description:
              "The spans, earliest first, in Tempo's JSON: IDs in base64, enumerations by name, 64-bit numbers as strings; what is zero or empty is absent.",
          }),
        },
        { additionalProperties: true, description: "Spans of one library." },
      ),
      { description: "The spans by library." },
    ),
  },
  { additionalProperties: true, description: "Spans of one resource." },
);

export const TracesAnswer = schema(
  Type.Object(
    {
      traces: Type.Array(
        Type.Object(
          {
            traceID: Type.String({ description: "Trace ID, 32 hexadecimal digits." }),
            rootServiceName: Type.String({
              description: "The service of the root span, or of the earliest span where the root is not known.",
            }),
            rootTraceName: Type.String({
              description: "The name of the root span, or of the earliest span where the root is not known.",
            }),
            startTimeUnixNano: Type.String({ description: "When the earliest span began, nanoseconds since 1970." }),
            durationMs: Type.Integer({ description: "From the earliest begin to the latest end, milliseconds." }),
            batches: Type.Optional(
              Type.Array(batch, { description: "The spans by resource; absent with `detail: false`." }),
            ),
          },
          { description: "A trace." },
        ),
        { description: "The traces, newest first." },
      ),
    },
    { description: "Traces in Tempo's form." },
  ),
);
export type TracesAnswer = TypeOf<typeof TracesAnswer>;

export const queryLogs = operation({
  id: "queryLogs",
  method: "POST",
  path: "/observability/logs",
  tag: "Observability",
  summary: "Query logs",
  description:
    "The newest log entries of the key's organization. The parameters may also stand in the query string; the body's win.",
  permission: "telemetry_read",
  body: LogsQuery,
  queryAsBody: true,
  maxBodyBytes: queryBodyBytes,
  answer: { type: "application/json", schema: LogsAnswer, description: "The entries, newest first." },
  example: { severity: "error", time_window: "1h", limit: 100 },
});

export const queryTraces = operation({
  id: "queryTraces",
  method: "POST",
  path: "/observability/traces",
  tag: "Observability",
  summary: "Query traces",
  description:
    "The newest traces of the key's organization, or one by its ID. The parameters may also stand in the query string; the body's win.",
  permission: "telemetry_read",
  body: TracesQuery,
  queryAsBody: true,
  maxBodyBytes: queryBodyBytes,
  answer: { type: "application/json", schema: TracesAnswer, description: "The traces, newest first." },
  example: { trace: "inference_traces", time_window: "1h", limit: 10 },
});
