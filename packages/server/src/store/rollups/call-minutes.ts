/**
 * Defines the sums of what AI applications do: model calls, runs of agents, tool calls and refusals, by the minute in which they
 * ended. Metrics over spans read them (query/metrics/span-series/).
 */
import { endedWithin, isCounted, withCallers } from "../counted-calls.ts";
import {
  audioSeconds,
  bucketOf,
  durationSeconds,
  endMs,
  firstAudioSeconds,
  firstChunkSeconds,
  isAgent,
  isInference,
  isRejection,
  isTool,
  speechCharacters,
} from "../row-expressions.ts";
import { callerLabels, spanLabels } from "../span-labels.ts";
import { sql, type Statement } from "../statement.ts";
import { type HourRange, hourNumber, hourOf, minuteOf, nameType, type Rollup, type RollupColumn } from "./rollup.ts";

const endNanos = sql`${endMs} * 1000000`;
const startNanos = sql`toUnixTimestamp64Nano(start_time)`;
/** By how much the ends of two spans of one call may differ (counted-calls.ts). */
const marginNanos = sql`300000000000`;

/** Bounds of buckets in the keys of maps are microseconds; the highest bucket has no bound. */
const noBound = sql`18446744073709551615`;
const microseconds = (seconds: Statement): Statement =>
  sql`if(isInfinite(${bucketOf(seconds)}), ${noBound}, toUInt64(round(${bucketOf(seconds)} * 1e6)))`;

/** The bound of a bucket in seconds, from the key of a map. */
export function boundOfKey(key: Statement): Statement {
  return sql`if(${key} = ${noBound}, inf, ${key} / 1e6)`;
}

function histogram(seconds: Statement, condition: Statement): RollupColumn {
  return {
    type: "Map(UInt64, UInt64)",
    value: sql`sumMapIf(map(${microseconds(seconds)}, toUInt64(1)), ${condition})`,
  };
}

const isFirstChunk = sql`first_chunk > 0`;
const isSpeech = sql`operation = 'speech'`;
const isFirstAudio = sql`(${isSpeech} AND first_audio > 0)`;
const isTranscription = sql`(operation = 'transcription' AND audio > 0)`;

function label(value: Statement): RollupColumn {
  return { type: nameType, value };
}

/** A label of few sums: metrics that do not name it read sums without it. */
function detail(value: Statement): RollupColumn {
  return label(sql`if(is_detailed = 1, toString(${value}), '')`);
}

function count(condition: Statement): RollupColumn {
  return { type: "UInt64", value: sql`countIf(${condition})` };
}

function sum(value: Statement, condition: Statement): RollupColumn {
  return { type: "Float64", value: sql`sumIf(${value}, ${condition})` };
}

const isPriced = sql`priced = 1`;

/** Of the calls whose cost is known. */
function sumOfPriced(tokens: Statement): RollupColumn {
  return { type: "UInt64", value: sql`sumIf(${tokens}, ${isPriced})` };
}

export const callMinutes: Rollup = {
  name: "call_minutes",
  source: "calls",
  table: "spans",
  // Which calls count, and their labels, depends on spans that ended shortly before or after; and a span that is sent again may have
  // ended earlier the first time.
  touchedHours: sql`arrayDistinct(arrayConcat(
    if(response_key = 0 AND request_key = 0, [${hourOf(endNanos)}], [
      ${hourOf(endNanos)}, ${hourOf(sql`(${endNanos} - ${marginNanos})`)}, ${hourOf(sql`(${endNanos} + ${marginNanos})`)}]),
    arrayMap(hour -> hour * 3600, range(greatest(${hourNumber(startNanos)}, ${hourNumber(endNanos)} - 24), ${hourNumber(endNanos)}))))`,
  rows: countedCalls,
  minute: minuteOf(sql`ended_nanos`),
  level: "is_detailed",
  groupedBy: {
    /** 1 for sums by all labels; 0 for fewer, larger sums without the names of agents and tools, categories and voices. */
    is_detailed: { type: "UInt8", value: sql`is_detailed` },
    operation: label(sql`operation`),
    service: label(sql`label_service`),
    provider: label(sql`provider`),
    model_key: label(sql`label_model_key`),
    status: label(sql`label_status`),
    agent_class: label(sql`label_agent_class`),
    agent_name: detail(sql`label_agent_name`),
    tool_name: detail(sql`label_tool_name`),
    category: detail(sql`label_category`),
    voice: detail(sql`label_voice`),
  },
  sums: {
    calls: count(sql`1`),
    seconds: sum(sql`lasted`, sql`1`),
    calls_by_seconds: histogram(sql`lasted`, sql`1`),
    input_tokens: { type: "UInt64", value: sql`sum(input_tokens)` },
    output_tokens: { type: "UInt64", value: sql`sum(output_tokens)` },
    cache_read_tokens: { type: "UInt64", value: sql`sum(cache_read_tokens)` },
    cache_write_tokens: { type: "UInt64", value: sql`sum(cache_write_tokens)` },
    cost_billionths: { type: "UInt64", value: sql`sum(cost_billionths)` },
    priced_calls: count(isPriced),
    priced_input_tokens: sumOfPriced(sql`input_tokens`),
    priced_output_tokens: sumOfPriced(sql`output_tokens`),
    priced_cache_read_tokens: sumOfPriced(sql`cache_read_tokens`),
    priced_cache_write_tokens: sumOfPriced(sql`cache_write_tokens`),
    first_chunk_calls: count(isFirstChunk),
    first_chunk_seconds: sum(sql`first_chunk`, isFirstChunk),
    calls_by_first_chunk: histogram(sql`first_chunk`, isFirstChunk),
    rejections: count(sql`is_rejection`),
    speech_characters: sum(sql`characters`, sql`${isSpeech} AND characters > 0`),
    first_audio_calls: count(isFirstAudio),
    first_audio_seconds: sum(sql`first_audio`, isFirstAudio),
    calls_by_first_audio: histogram(sql`first_audio`, isFirstAudio),
    audio_seconds: sum(sql`audio`, isTranscription),
    transcribing_seconds: sum(sql`lasted`, isTranscription),
  },
};

/** Spans of agents and tools have no keys, so they count, and nothing is joined to them. */
function countedCalls({ fromUnixNano, toUnixNano }: HourRange): Statement {
  const range = { fromMs: Number(fromUnixNano / 1_000_000n) + 1, toMs: Number(toUnixNano / 1_000_000n) };
  const condition = sql`(${isInference} OR ${isAgent} OR ${isTool} OR ${isRejection})`;
  const spans = sql`spans FINAL WHERE ${endedWithin([range])} AND ${condition} AND ${isCounted([range])}`;
  return sql`(SELECT project, days, operation, provider, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens, priced, cost_billionths,
      ${endNanos} AS ended_nanos, ${durationSeconds} AS lasted, ${firstChunkSeconds} AS first_chunk,
      ${speechCharacters} AS characters, ${firstAudioSeconds} AS first_audio, ${audioSeconds} AS audio,
      ${isRejection} AS is_rejection, ${callerLabels.service_name} AS label_service,
      ${spanLabels.model_key} AS label_model_key, ${spanLabels.status} AS label_status,
      ${callerLabels.agent_name} AS label_agent_name, ${callerLabels.agent_class} AS label_agent_class,
      ${spanLabels.tool_name} AS label_tool_name, ${spanLabels.category} AS label_category,
      ${spanLabels.voice} AS label_voice
    FROM ${withCallers(spans, [range], undefined)}) AS counted ARRAY JOIN [1, 0] AS is_detailed WHERE 1`;
}

/** A rollup's sums by hour, which has its columns; `minute` is the hour's first one. */
export const callHoursName = "call_hours";
