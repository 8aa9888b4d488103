/**
 * The operation that queries an organization's traces, and the fields that all telemetry queries share. Responses have
 * Tempo's format (https://grafana.com/docs/tempo/latest/api_docs/).
 */
import { Type } from "typebox";
import { operation, queryBodyBytes } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

/** Fields that all telemetry queries share. */
export const tenantFilters = {
  organization_id: optional(
    Type.String({ maxLength: 256 }),
    "The key's own organization, which is the default; any other is refused.",
  ),
  project_name: optional(
    Type.String({ minLength: 1, maxLength: 256 }),
    "Only telemetry of this project. Default: the key's project if it is bound to one, otherwise all projects.",
  ),
};

export const timeWindow = (description: string) => optional(Type.String({ maxLength: 64 }), description);

/** A parameter with an RFC 3339 time or a UNIX time in nanoseconds. */
export const timeParameter = (description: string) => optional(Type.String({ maxLength: 64 }), description);

/** The value of an attribute that a query filters by. */
export const attributeValue = Type.Union([Type.String({ maxLength: 4096 }), Type.Number(), Type.Boolean()]);

/** The values of OTLP's StatusCode, as a filter names them. */
export const spanStatuses = ["unset", "ok", "error"] as const;

const conversationIdLength = 1024;
export const conversationId = Type.String({ minLength: 1, maxLength: conversationIdLength });

const duration = Type.Number({ minimum: 0, maximum: 1e12 });

/** Filters by spans, which several queries share. At least one span of a trace must match all of them. */
export const spanFilters = {
  service_name: optional(Type.String({ minLength: 1, maxLength: 256 }), "Only spans of this service."),
  operation: optional(
    Type.String({ minLength: 1, maxLength: 256 }),
    "Only spans with this operation (`gen_ai.operation.name`), such as `chat` or `execute_tool`.",
  ),
  model: optional(
    Type.String({ minLength: 1, maxLength: 256 }),
    "Only spans of this model: the requested one or the one that answered.",
  ),
  status: optional(Type.Enum([...spanStatuses]), "Only spans with this status."),
  min_duration_ms: optional(duration, "Only spans that took at least this long, in milliseconds."),
  max_duration_ms: optional(duration, "Only spans that took at most this long, in milliseconds."),
  attributes: optional(
    Type.Record(Type.String(), attributeValue, { maxProperties: 16 }),
    'Only spans that have each of these attributes, or whose resource has it, with exactly this value. Values are compared as text: `200` and `"200"` match the integer 200. Values longer than a kilobyte are not found.',
  ),
  conversation_id: optional(
    conversationId,
    "Only spans of this conversation (`gen_ai.conversation.id`, `session.id`). A call through Sounding names it in `metadata.session_id` or the header `x-session-id`.",
  ),
  user_id: optional(
    Type.String({ minLength: 1, maxLength: 4096 }),
    "Only spans of this end user (`user.id`, `enduser.id`). A call through Sounding names the user in `user`, `safety_identifier` or the header `x-user-id`.",
  ),
  key_id: optional(Type.String({ minLength: 1, maxLength: 64 }), "Only calls through Sounding with this API key."),
  search: optional(
    Type.String({ minLength: 1, maxLength: 1024 }),
    "Only spans that contain this text, in upper or lower case, in their name, status message, attributes or attributes of events, recorded prompts and answers included unless the server encrypts them.",
  ),
};

/** The time range of queries of traces and conversations. */
export const traceTimes = (window: string) => ({
  time_window: timeWindow(
    `How far to look back from \`end\`: an integer of at least 1, followed by \`m\` (minutes), \`h\` or \`d\`. Default "${window}".`,
  ),
  start: timeParameter(
    "Only spans that started at this time or later: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Not together with `time_window`.",
  ),
  end: timeParameter(
    "Only spans that started before this time: an RFC 3339 time, or a UNIX time in nanoseconds as a string. Default: now.",
  ),
});

export const defaultTraceWindow = "1h";

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
        "Return the trace with this ID (32 hexadecimal digits), regardless of `trace`, of all filters and of its age, unless a time range is set too.",
      ),
      ...spanFilters,
      ...traceTimes(defaultTraceWindow),
      detail: optional(Type.Boolean(), "Whether to return each trace's spans. Default true."),
      limit: optional(
        Type.Integer({ minimum: 1, maximum: 1000 }),
        "Maximum number of traces, 1 to 1000; the newest are returned. Default 100.",
      ),
      cursor: optional(
        Type.String({ maxLength: 4096 }),
        'Requests the traces page by page: "" for the first page, then `next_cursor` of the previous response together with the same filters.',
      ),
    },
    {
      additionalProperties: false,
      description: "A trace query. A trace matches if at least one of its spans matches `trace` and all filters.",
    },
  ),
);
export type TracesQuery = TypeOf<typeof TracesQuery>;

const attributeList = Type.Array(Type.Record(Type.String(), Type.Unknown()), {
  description: "Attributes in OpenTelemetry's JSON encoding: `key` and `value`.",
});

const batch = Type.Object(
  {
    resource: Type.Object(
      { attributes: Type.Optional(attributeList) },
      { additionalProperties: true, description: "The resource that produced the spans: a service and where it runs." },
    ),
    scopeSpans: Type.Array(
      Type.Object(
        {
          scope: Type.Record(Type.String(), Type.Unknown(), { description: "The instrumentation scope of the spans." }),
          spans: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
            description:
              "The spans, earliest first, in Tempo's JSON encoding: IDs in base64, enumerations by name, 64-bit numbers as strings; zero and empty values are omitted.",
          }),
        },
        { additionalProperties: true, description: "Spans of one instrumentation scope." },
      ),
      { description: "The spans, by instrumentation scope." },
    ),
  },
  { additionalProperties: true, description: "Spans of one resource." },
);

const traceSummary = Type.Object(
  {
    spanCount: Type.Integer({ description: "Number of spans." }),
    errorCount: Type.Integer({ description: "Number of spans whose status is an error." }),
    status: Type.Enum(["unset", "ok", "error"], {
      description: "Status of the root span, or of the earliest span if the root is unknown.",
    }),
    durationNanos: Type.String({
      description: "Time from the earliest start to the latest end in nanoseconds: `durationMs` without rounding.",
    }),
    models: Type.Array(
      Type.Object(
        {
          model: Type.String({ description: "Model ID, as requested." }),
          calls: Type.Integer({ description: "Number of calls." }),
          inputTokens: Type.Integer({ description: "Tokens that the model read." }),
          outputTokens: Type.Integer({ description: "Tokens that the model generated." }),
          cacheReadTokens: Type.Integer({ description: "Of the input tokens, those read from a cache of prompts." }),
          cacheWriteTokens: Type.Integer({ description: "Of the input tokens, those written to a cache of prompts." }),
        },
        { description: "The calls of one model." },
      ),
      { description: "The models that the trace called, in alphabetical order." },
    ),
    cost: Type.Union([Type.Number(), Type.Null()], {
      description:
        "Cost of the calls, in the currency of the prices (`telemetry.currency`), without those of models without a price; null if no call has a known cost.",
    }),
    projects: Type.Optional(
      Type.Array(Type.String(), {
        description: "Only if the request has a `cursor`: the projects of the spans, in alphabetical order.",
      }),
    ),
    services: Type.Optional(
      Type.Array(Type.String(), {
        description:
          "Only if the request has a `cursor`: the services of the spans, in alphabetical order; at most 20.",
      }),
    ),
  },
  { description: "What the trace consists of. Not part of Tempo's format." },
);

export const TracesAnswer = schema(
  Type.Object(
    {
      traces: Type.Array(
        Type.Object(
          {
            traceID: Type.String({ description: "Trace ID, 32 hexadecimal digits." }),
            rootServiceName: Type.String({
              description: "Service of the root span, or of the earliest span if the root is unknown.",
            }),
            rootTraceName: Type.String({
              description: "Name of the root span, or of the earliest span if the root is unknown.",
            }),
            startTimeUnixNano: Type.String({ description: "Start of the earliest span, UNIX time in nanoseconds." }),
            durationMs: Type.Integer({
              description: "Time from the earliest start to the latest end, in milliseconds.",
            }),
            summary: traceSummary,
            batches: Type.Optional(
              Type.Array(batch, { description: "The spans, by resource; absent with `detail: false`." }),
            ),
          },
          { description: "A trace." },
        ),
        { description: "The traces, newest first." },
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
    { description: "Traces in Tempo's response format." },
  ),
);
export type TracesAnswer = TypeOf<typeof TracesAnswer>;

export const queryTraces = operation({
  id: "queryTraces",
  method: "POST",
  path: "/observability/traces",
  tag: "Observability",
  summary: "Query traces",
  description:
    "Returns the newest traces of the key's organization with a span that matches all filters, or one trace by its ID. Parameters may also be sent in the query string; those in the body take precedence.",
  permission: "telemetry_read",
  body: TracesQuery,
  queryAsBody: true,
  maxBodyBytes: queryBodyBytes,
  answer: { type: "application/json", schema: TracesAnswer, description: "The traces, newest first." },
  example: { trace: "inference_traces", time_window: "1h", limit: 10 },
});

export const TracePresetList = schema(
  Type.Object(
    {
      data: Type.Array(
        Type.Object(
          {
            name: Type.String({ description: "What `trace` of a query accepts." }),
            description: Type.String({ description: "Which traces it selects." }),
          },
          { description: "A kind of traces." },
        ),
        { description: "The kinds of traces: the built-in ones, then those of the server's configuration." },
      ),
    },
    { description: "The values of `trace` in trace queries." },
  ),
);

export const listTracePresets = operation({
  id: "listTracePresets",
  method: "GET",
  path: "/observability/traces",
  tag: "Observability",
  summary: "List kinds of traces",
  description: "Lists the names that `trace` accepts in trace queries, with descriptions.",
  permission: "telemetry_read",
  answer: { type: "application/json", schema: TracePresetList, description: "The kinds of traces." },
});
