/** Metric presets about agents, refused content, sessions and audio. */
import type { Expression, LabelMatcher } from "@sounding/promql/syntax/ast";
import { aggregate, betweenVectors, call, range, withNumber } from "./expression-factories.ts";
import { increaseOf, quantileOf, quotient } from "./inference-presets.ts";
import type { MetricPreset, PresetCall, PresetFilter } from "./preset.ts";

const agentFilters: readonly PresetFilter[] = [
  "project_name",
  "service_name",
  "agent_name",
  "agent_class",
  "session_id",
  "status",
];
const agentDefaults = { status: "success" } as const;
const agent = ["agent_name", "agent_class"] as const;

function withoutStatus(presetCall: PresetCall): PresetCall {
  return { ...presetCall, matchers: presetCall.matchers.filter(({ name }) => name !== "status") };
}

const agentPresets: readonly MetricPreset[] = [
  {
    name: "agent_task_total",
    group: "Agents",
    description: "Number of agent runs that ended with the status.",
    unit: "runs",
    labels: [...agent, "status"],
    filters: agentFilters,
    defaults: agentDefaults,
    build: (presetCall) => increaseOf("agent_tasks_total", [...agent, "status"], presetCall),
  },
  {
    name: "agent_performance_rate",
    group: "Agents",
    description: "Share of an agent's runs that ended with the status.",
    unit: "share, 0 to 1",
    labels: agent,
    filters: agentFilters,
    defaults: agentDefaults,
    build(presetCall) {
      const all = increaseOf("agent_tasks_total", agent, withoutStatus(presetCall));
      const withStatus = increaseOf("agent_tasks_total", agent, presetCall);
      // The share is 0 for an agent without a run of this status.
      return quotient(betweenVectors(withStatus, "or", withNumber(all, "*", 0)), all);
    },
  },
  {
    name: "agent_latency",
    group: "Agents",
    description: "Duration of agent runs, at a percentile.",
    unit: "seconds",
    labels: agent,
    filters: [...agentFilters, "percentile"],
    defaults: agentDefaults,
    build: (presetCall) => quantileOf("agent_duration_seconds", agent, presetCall),
  },
  {
    name: "agent_active_count",
    group: "Agents",
    description: "Number of distinct agents that ended a run with the status.",
    unit: "agents",
    labels: [],
    filters: agentFilters,
    defaults: agentDefaults,
    build: (presetCall) =>
      aggregate("count", [], withNumber(increaseOf("agent_tasks_total", agent, presetCall), ">", 0)),
  },
  {
    name: "agent_tool_calls_total",
    group: "Agents",
    description: "Number of tool calls that ended with the status.",
    unit: "calls",
    labels: ["agent_name", "tool_name", "status"],
    filters: agentFilters,
    defaults: agentDefaults,
    build: (presetCall) => increaseOf("agent_tool_calls_total", ["agent_name", "tool_name", "status"], presetCall),
  },
  {
    name: "rai_rejection_total",
    group: "Safety",
    description: "Number of requests and responses that were refused because of their content.",
    unit: "refusals",
    labels: ["category"],
    filters: ["project_name", "service_name", "agent_name", "agent_class", "model_key", "session_id", "category"],
    build: (presetCall) => increaseOf("rai_rejections_total", ["category"], presetCall),
  },
];

const sessionFilters: readonly PresetFilter[] = [
  "project_name",
  "service_name",
  "agent_name",
  "agent_class",
  "model_key",
  "session_id",
];

function activeSessions(presetCall: PresetCall): Expression {
  const calls = increaseOf("session_requests_total", ["session_id"], presetCall);
  return aggregate("count", [], withNumber(calls, ">", 0));
}

function edgeOf(
  edge: "max" | "min",
  name: string,
  { matchers, windowSeconds }: { matchers: readonly LabelMatcher[]; windowSeconds: number },
): Expression {
  return aggregate(edge, ["session_id"], call(`${edge}_over_time`, range(name, matchers, windowSeconds)));
}

const sessionPresets: readonly MetricPreset[] = [
  {
    name: "session_total",
    group: "Sessions",
    description: "Number of sessions that called a model.",
    unit: "sessions",
    labels: [],
    filters: sessionFilters,
    build: activeSessions,
  },
  {
    name: "session_duration",
    group: "Sessions",
    description:
      "Average duration of sessions: from the start of the first to the end of the last span that ended in the time window.",
    unit: "seconds",
    labels: [],
    filters: ["project_name", "service_name", "agent_name", "agent_class", "session_id"],
    build: (presetCall) =>
      aggregate(
        "avg",
        [],
        betweenVectors(
          edgeOf("max", "session_end_timestamp_seconds", presetCall),
          "-",
          edgeOf("min", "session_start_timestamp_seconds", presetCall),
        ),
      ),
  },
  {
    name: "session_requests",
    group: "Sessions",
    description: "Average number of model calls per session.",
    unit: "calls per session",
    labels: [],
    filters: sessionFilters,
    build: (presetCall) => quotient(increaseOf("session_requests_total", [], presetCall), activeSessions(presetCall)),
  },
];

const audioFilters: readonly PresetFilter[] = [
  "project_name",
  "service_name",
  "model_key",
  "session_id",
  "user_id",
  "key_id",
];

const audioPresets: readonly MetricPreset[] = [
  {
    name: "speech_characters_total",
    group: "Speech",
    description: "Number of characters synthesized to speech.",
    unit: "characters",
    labels: ["model_key", "voice"],
    filters: audioFilters,
    build: (presetCall) => increaseOf("speech_characters_total", ["model_key", "voice"], presetCall),
  },
  {
    name: "speech_first_audio_latency",
    group: "Speech",
    description: "Time until callers received the first audio, at a percentile.",
    unit: "seconds",
    labels: [],
    filters: [...audioFilters, "percentile"],
    build: (presetCall) => quantileOf("speech_time_to_first_audio_seconds", [], presetCall),
  },
  {
    name: "transcription_audio_seconds_total",
    group: "Speech",
    description: "Duration of transcribed audio.",
    unit: "seconds",
    labels: ["model_key"],
    filters: audioFilters,
    build: (presetCall) => increaseOf("transcription_audio_seconds_total", ["model_key"], presetCall),
  },
  {
    name: "transcription_realtime_factor",
    group: "Speech",
    description: "Transcription time per second of audio; below 1 is faster than real time.",
    unit: "seconds per second of audio",
    labels: ["model_key"],
    filters: audioFilters,
    build: (presetCall) =>
      quotient(
        increaseOf("transcription_processing_seconds_total", ["model_key"], presetCall),
        increaseOf("transcription_audio_seconds_total", ["model_key"], presetCall),
      ),
  },
];

export const nonInferencePresets: readonly MetricPreset[] = [...agentPresets, ...sessionPresets, ...audioPresets];
