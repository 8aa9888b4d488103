/**
 * The operation that queries an organization's logs. Responses have Loki's format
 * (https://grafana.com/docs/loki/latest/reference/loki-http-api/).
 */
import { Type, type Static } from "typebox";
import { attributeValue, tenantFilters, timeParameter, timeWindow } from "./observability.ts";
import { operation, queryBodyBytes } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

/** The levels that logs can be filtered by, in ascending order; each has its OpenTelemetry severity numbers. */
export const severities = ["debug", "info", "warning", "error"] as const;
export type Severity = (typeof severities)[number];

/** As in Loki. */
const directions = ["backward", "forward"] as const;

/** A list without an item is refused: it would look like a filter and select everything. */
const names = (description: string) =>
  optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: 16 }), description);
const levelList = (description: string) =>
  optional(Type.Array(Type.Enum([...severities]), { minItems: 1, maxItems: 4 }), description);

/** Which entries, without the time: the filters of every operation on logs. */
export const logFilters = {
  ...tenantFilters,
  severity: optional(Type.Enum([...severities]), "Only entries with exactly this level."),
  severities: levelList("Only entries with one of these levels."),
  min_severity: optional(Type.Enum([...severities]), "Only entries with this level or a higher one."),
  search: optional(
    Type.String({ minLength: 1, maxLength: 1024 }),
    "Only entries whose message contains this text, in upper or lower case. If the message is a map or a list, one of its keys or values must contain the text.",
  ),
  service_name: optional(Type.String({ minLength: 1, maxLength: 256 }), "Only entries of this service."),
  trace_id: optional(
    Type.String({ pattern: "^[0-9a-fA-F]{32}$", maxLength: 32 }),
    "Only entries of the trace with this ID (32 hexadecimal digits).",
  ),
  span_id: optional(
    Type.String({ pattern: "^[0-9a-fA-F]{16}$", maxLength: 16 }),
    "Only entries of the span with this ID (16 hexadecimal digits).",
  ),
  attributes: optional(
    Type.Record(Type.String(), attributeValue, { maxProperties: 16 }),
    'Only entries that have each of these attributes, or whose resource has it, with exactly this value. Values are compared as text: `200` and `"200"` match the integer 200.',
  ),
  exclude_severities: levelList("No entries with one of these levels."),
  exclude_services: names("No entries of these services, at most 16."),
  exclude_projects: names("No entries of these projects, at most 16."),
  exclude_attributes: optional(
    Type.Record(Type.String(), Type.Array(attributeValue, { minItems: 1, maxItems: 16 }), { maxProperties: 16 }),
    "No entries that have one of these attributes, or whose resource has it, with exactly one of the values in its list. Entries without the attribute remain. Values are compared as text.",
  ),
};

/** The times of every operation on logs. */
export const logTimes = {
  time_window: timeWindow(
    'How far to look back from `end`: an integer of at least 1, followed by `m` (minutes), `h` or `d`. Default "24h".',
  ),
  start: timeParameter(
    "Only entries at this time or later: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Not together with `time_window`.",
  ),
  end: timeParameter(
    "Only entries before this time: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Default: now.",
  ),
};

export const LogsQuery = schema(
  Type.Object(
    {
      ...logFilters,
      ...logTimes,
      limit: optional(
        Type.Integer({ minimum: 1, maximum: 5000 }),
        "Maximum number of entries over all streams, 1 to 5000: the newest, or with `direction: forward` the oldest. Default 500.",
      ),
      direction: optional(
        Type.Enum([...directions]),
        "`backward` returns the newest entries first, `forward` the oldest first. Default `backward`.",
      ),
      cursor: optional(
        Type.String({ maxLength: 4096 }),
        'Requests the entries page by page: "" for the first page, then `next_cursor` of the previous response together with the same filters. The `id` of an entry is a cursor too: the page begins after this entry.',
      ),
      detail: optional(
        Type.Boolean(),
        "Whether each entry has its attributes as a third element: `structuredMetadata`, as in Loki. Default false.",
      ),
      ids: optional(
        Type.Boolean(),
        "Whether the third element of each entry has its `id` too. Only together with `detail: true`. Default false.",
      ),
    },
    { additionalProperties: false, description: "A log query. An entry must match all filters." },
  ),
);
export type LogsQuery = TypeOf<typeof LogsQuery>;

const details = Type.Object(
  {
    structuredMetadata: Type.Record(Type.String(), Type.String(), {
      description:
        "The attributes of the log record under OpenTelemetry's names, with their values as text: lists and maps as JSON. `event_name` is the name of an event whose line is its body.",
    }),
    id: Type.Optional(
      Type.String({
        description:
          "With `ids: true`: identifies the entry within the organization, and is a `cursor` to the entries after it.",
      }),
    ),
  },
  { description: "With `detail: true`: what the entry has besides its line." },
);

/** An entry: nanoseconds, line and, if requested, its details. TypeBox's tuples are not those of JSON Schema 2020-12. */
export type LogEntry = [unixNano: string, line: string, details?: Static<typeof details>];
const entry = Type.Unsafe<LogEntry>({
  type: "array",
  prefixItems: [Type.String(), Type.String(), details],
  items: false,
  minItems: 2,
  maxItems: 3,
});

export const LogsAnswer = schema(
  Type.Object(
    {
      status: Type.Literal("success", { description: "Always `success`; failures are error responses." }),
      data: Type.Object(
        {
          resultType: Type.Literal("streams", { description: "Always `streams`." }),
          result: Type.Array(
            Type.Object(
              {
                stream: Type.Record(Type.String(), Type.String(), {
                  description:
                    "The labels: `service_name`, `project_name`, `severity` (debug, info, warning or error) and, if present, `severity_text`, `trace_id`, `span_id`, `scope_name`, `scope_version` and the resource attributes that identify instances.",
                }),
                values: Type.Array(entry, {
                  description:
                    "Pairs of a UNIX time in nanoseconds, as a string, and a line; newest first, or oldest first with `direction: forward`. With `detail: true` each has its attributes as a third element.",
                }),
              },
              { description: "Entries with the same labels." },
            ),
            { description: "The streams, in the order of their first entries." },
          ),
          stats: Type.Record(Type.String(), Type.Unknown(), {
            description: "Statistics of this response: `summary.totalEntriesReturned`.",
          }),
        },
        { description: "The result." },
      ),
      next_cursor: optional(
        Type.String(),
        "Only if the request has a `cursor`: the cursor of the next page; null if this is the last page.",
      ),
      warnings: optional(
        Type.Array(Type.String({ description: "A sentence." })),
        "Only if the search did not look into everything: recorded content that the server encrypts.",
      ),
    },
    { description: "Log entries in Loki's response format." },
  ),
);
export type LogsAnswer = TypeOf<typeof LogsAnswer>;

export const queryLogs = operation({
  id: "queryLogs",
  method: "POST",
  path: "/observability/logs",
  tag: "Observability",
  summary: "Query logs",
  description:
    "Returns the newest log entries of the key's organization, or the oldest of a time range. Parameters may also be sent in the query string; those in the body take precedence.",
  permission: "telemetry_read",
  body: LogsQuery,
  queryAsBody: true,
  maxBodyBytes: queryBodyBytes,
  answer: {
    type: "application/json",
    schema: LogsAnswer,
    description: "The entries, newest first unless `direction` is `forward`.",
  },
  example: { min_severity: "warning", search: "timeout", time_window: "1h", limit: 100 },
});
