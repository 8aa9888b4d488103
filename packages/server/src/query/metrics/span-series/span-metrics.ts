/**
 * Defines the metrics that are computed from spans at query time. A span counts at the moment it ends. Names follow
 * Prometheus' conventions (https://prometheus.io/docs/practices/naming/) and OpenTelemetry's GenAI conventions
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/); attributes that they do not name have names of our own.
 */
import {
  audioSeconds,
  firstAudioSeconds,
  firstChunkSeconds,
  isAgent,
  isInference,
  isRejection,
  isTool,
  durationSeconds,
  speechCharacters,
} from "../../../store/row-expressions.ts";
import { inferenceOperations } from "../../../store/span-operations.ts";
import { sql } from "../../../store/statement.ts";
import { agentLabels, one, spanMetric as metric, type SpanMetric } from "./span-metric.ts";
import { tokenMetrics } from "./token-metrics.ts";
import { traceMetrics } from "./trace-metrics.ts";

const identityLabels = ["project_name", "service_name"] as const;
const inferenceLabels = [...agentLabels, "model_key", "provider", "operation", "status"] as const;

const durations = { value: sql`seconds`, count: sql`calls`, buckets: sql`calls_by_seconds` };

const inferenceSource =
  "Spans of model calls: `gen_ai.operation.name` is one of " +
  `${inferenceOperations.map((name) => `\`${name}\``).join(", ")}. A call that several spans report counts once.`;
const agentSource = "Spans whose `gen_ai.operation.name` is `invoke_agent`.";
const sessionSource = "Spans with `gen_ai.conversation.id` or `session.id`.";

const inference: readonly SpanMetric[] = [
  metric({
    name: "inference_requests_total",
    type: "counter",
    unit: "",
    help: "Model calls.",
    source: inferenceSource,
    labels: inferenceLabels,
    condition: isInference,
    countsCalls: true,
    value: one,
    sums: { condition: isInference, value: sql`calls` },
  }),
  metric({
    name: "inference_duration_seconds",
    type: "histogram",
    unit: "seconds",
    help: "Duration of model calls.",
    source: inferenceSource,
    labels: inferenceLabels,
    condition: isInference,
    countsCalls: true,
    value: durationSeconds,
    sums: { condition: isInference, ...durations },
  }),
  metric({
    name: "inference_time_to_first_token_seconds",
    type: "histogram",
    unit: "seconds",
    help: "Time until callers received the first chunk of a streamed response.",
    source:
      "Spans of model calls with `gen_ai.response.time_to_first_chunk`, in seconds, or the AI SDK's `ai.response.msToFirstChunk`.",
    labels: inferenceLabels,
    condition: sql`${isInference} AND ${firstChunkSeconds} > 0`,
    countsCalls: true,
    value: firstChunkSeconds,
    sums: {
      condition: sql`${isInference} AND first_chunk_calls > 0`,
      value: sql`first_chunk_seconds`,
      count: sql`first_chunk_calls`,
      buckets: sql`calls_by_first_chunk`,
    },
  }),
];

const agents: readonly SpanMetric[] = [
  metric({
    name: "agent_tasks_total",
    type: "counter",
    unit: "",
    help: "Runs of agents.",
    source: agentSource,
    labels: [...agentLabels, "status"],
    condition: isAgent,
    value: one,
    sums: { condition: isAgent, value: sql`calls` },
  }),
  metric({
    name: "agent_duration_seconds",
    type: "histogram",
    unit: "seconds",
    help: "Duration of agent runs.",
    source: agentSource,
    labels: [...agentLabels, "status"],
    condition: isAgent,
    value: durationSeconds,
    sums: { condition: isAgent, ...durations },
  }),
  metric({
    name: "agent_tool_calls_total",
    type: "counter",
    unit: "",
    help: "Tool calls by agents.",
    source: "Spans whose `gen_ai.operation.name` is `execute_tool`.",
    labels: [...agentLabels, "tool_name", "status"],
    condition: isTool,
    value: one,
    sums: { condition: isTool, value: sql`calls` },
  }),
  metric({
    name: "rai_rejections_total",
    type: "counter",
    unit: "",
    help: "Requests and responses that were refused because of their content.",
    source:
      "Spans other than agent spans with `error.type` `content_filter` or the finish reason `content_filter`; the category is `gen_ai.guardrail.risk.category`, `rai.category` or `category`.",
    labels: [...agentLabels, "model_key", "category"],
    condition: isRejection,
    countsCalls: true,
    value: one,
    sums: { condition: sql`rejections > 0`, value: sql`rejections` },
  }),
];

const anySpan = sql`1`;

const sessions: readonly SpanMetric[] = [
  metric({
    name: "session_requests_total",
    type: "counter",
    unit: "",
    help: "Model calls within a session.",
    source: `${sessionSource} Those of model calls.`,
    labels: [...identityLabels, "session_id"],
    labelsWhenNamed: ["agent_name", "agent_class", "model_key"],
    condition: isInference,
    countsCalls: true,
    required: ["session_id"],
    value: one,
  }),
  metric({
    name: "session_start_timestamp_seconds",
    type: "gauge",
    unit: "seconds",
    help: "When a span of a session started, UNIX time; the minimum is the start of the session.",
    source: sessionSource,
    labels: [...identityLabels, "session_id"],
    labelsWhenNamed: ["agent_name", "agent_class"],
    condition: anySpan,
    required: ["session_id"],
    value: sql`(toUnixTimestamp64Nano(start_time) / 1e9)`,
    edge: "min",
  }),
  metric({
    name: "session_end_timestamp_seconds",
    type: "gauge",
    unit: "seconds",
    help: "When a span of a session ended, UNIX time; the maximum is the end of the session.",
    source: sessionSource,
    labels: [...identityLabels, "session_id"],
    labelsWhenNamed: ["agent_name", "agent_class"],
    condition: anySpan,
    required: ["session_id"],
    value: sql`(toUnixTimestamp64Nano(end_time) / 1e9)`,
    edge: "max",
  }),
];

const audio: readonly SpanMetric[] = [
  metric({
    name: "speech_characters_total",
    type: "counter",
    unit: "",
    help: "Characters synthesized to speech.",
    source: "`sounding.speech.characters` of spans whose `gen_ai.operation.name` is `speech`.",
    labels: [...identityLabels, "model_key", "voice", "status"],
    condition: sql`operation = 'speech' AND ${speechCharacters} > 0`,
    countsCalls: true,
    value: speechCharacters,
    sums: { condition: sql`speech_characters > 0`, value: sql`speech_characters` },
  }),
  metric({
    name: "speech_time_to_first_audio_seconds",
    type: "histogram",
    unit: "seconds",
    help: "Time until callers received the first audio.",
    source: "`sounding.speech.time_to_first_audio` (seconds) of spans whose `gen_ai.operation.name` is `speech`.",
    labels: [...identityLabels, "model_key", "voice", "status"],
    condition: sql`operation = 'speech' AND ${firstAudioSeconds} > 0`,
    countsCalls: true,
    value: firstAudioSeconds,
    sums: {
      condition: sql`first_audio_calls > 0`,
      value: sql`first_audio_seconds`,
      count: sql`first_audio_calls`,
      buckets: sql`calls_by_first_audio`,
    },
  }),
  metric({
    name: "transcription_audio_seconds_total",
    type: "counter",
    unit: "seconds",
    help: "Duration of transcribed audio.",
    source: "`sounding.audio.duration` (seconds) of spans whose `gen_ai.operation.name` is `transcription`.",
    labels: [...identityLabels, "model_key", "status"],
    condition: sql`operation = 'transcription' AND ${audioSeconds} > 0`,
    countsCalls: true,
    value: audioSeconds,
    sums: { condition: sql`audio_seconds > 0`, value: sql`audio_seconds` },
  }),
  metric({
    name: "transcription_processing_seconds_total",
    type: "counter",
    unit: "seconds",
    help: "Duration of transcriptions whose audio length is known.",
    source: "Spans whose `gen_ai.operation.name` is `transcription` and that have `sounding.audio.duration`.",
    labels: [...identityLabels, "model_key", "status"],
    condition: sql`operation = 'transcription' AND ${audioSeconds} > 0`,
    countsCalls: true,
    value: durationSeconds,
    sums: { condition: sql`audio_seconds > 0`, value: sql`transcribing_seconds` },
  }),
];

/** Every metric over spans. */
export const spanMetrics: readonly SpanMetric[] = [
  ...inference,
  ...tokenMetrics,
  ...agents,
  ...sessions,
  ...audio,
  ...traceMetrics,
];

export type SeriesPart = "value" | "bucket" | "sum" | "count";

/** A name that queries can select: a metric, or a part of a histogram. */
export interface SpanSeriesName {
  readonly name: string;
  readonly metric: SpanMetric;
  readonly part: SeriesPart;
}

const histogramParts = ["bucket", "sum", "count"] as const;

/** The names of all metrics over spans. */
export const spanSeriesNames: readonly SpanSeriesName[] = spanMetrics.flatMap((each): SpanSeriesName[] =>
  each.type === "histogram"
    ? histogramParts.map((part) => ({ name: `${each.name}_${part}`, metric: each, part }))
    : [{ name: each.name, metric: each, part: "value" }],
);
