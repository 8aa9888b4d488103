/** What rows of spans, logs and series are worth, in SQL: statements over rows and the sums of rows must agree. */
import { prometheusUnit, targetInfo } from "./metric-tables.ts";
import { agentOperation, inferenceOperations, toolOperation, workflowOperation } from "./span-operations.ts";
import { spanLabels } from "./span-labels.ts";
import { sealedPrefix } from "../encryption/telemetry-cipher.ts";
import { bind, sql, type Statement } from "./statement.ts";

/** How long a span took in nanoseconds; 0 if it ends before it starts. */
export const durationNanos = sql`greatest(toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time), 0)`;

/** The least power of two that is not below the duration. */
export const durationBucket = sql`roundToExp2(toUInt64(${durationNanos} - 1)) * 2`;

/** Shorter durations than 2 ns have no bucket. */
export const hasDurationBucket = sql`${durationNanos} >= 2`;

/** Bytes of an entry's line, which is its body, or else the name of the event. */
export const lineBytes = sql`if(body = '', length(event_name), length(body))`;

/** The end of a span in milliseconds, the resolution of metrics. */
export const endMs = sql`toUnixTimestamp64Milli(end_time)`;

/** The duration of a span in metrics; 0 if it ends before it starts. */
export const durationSeconds = sql`(greatest(toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time), 0) / 1e9)`;

/** A number of an application. Infinite ones and NaN would make every sum with them the same. */
function finite(text: Statement): Statement {
  return sql`ifNotFinite(toFloat64OrZero(${text}), 0.)`;
}

const firstChunk = sql`attributes['gen_ai.response.time_to_first_chunk']`;
/** The AI SDK has milliseconds. */
export const firstChunkSeconds = sql`if(${firstChunk} != '', ${finite(firstChunk)}, ${finite(sql`attributes['ai.response.msToFirstChunk']`)} / 1000)`;
export const firstAudioSeconds = finite(sql`attributes['sounding.speech.time_to_first_audio']`);
export const speechCharacters = finite(sql`attributes['sounding.speech.characters']`);
export const audioSeconds = finite(sql`attributes['sounding.audio.duration']`);

export const isInference = sql`operation IN ${bind.texts(inferenceOperations)}`;
export const isAgent = sql`operation = ${bind.text(agentOperation)}`;
export const isTool = sql`operation = ${bind.text(toolOperation)}`;
const isRun = sql`operation IN ${bind.texts([agentOperation, workflowOperation])}`;

/**
 * Whether a request or a response was refused because of its content. A model's refusal is also reported by the agent that called it,
 * and by each of our attempts.
 */
export const isRejection = sql`((error_type IN ('content_filter', 'content-filter') OR match(attributes['gen_ai.response.finish_reasons'], 'content[_-]filter'))
  AND NOT ${isRun} AND (operation != '' OR ${spanLabels.category} != 'unknown'))`;

/** Upper bounds of the buckets of metrics over spans, in seconds: ten per power of ten, so that quantiles are accurate. */
export const bucketBounds: readonly number[] = [-3, -2, -1, 0, 1, 2, 3].flatMap((power) =>
  [1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.3, 8].map((factor) => Number(`${factor}e${power}`)),
);

/** The upper bound of the bucket that a value belongs to. */
export function bucketOf(value: Statement): Statement {
  const highest = bucketBounds.at(-1)!;
  const negated = bucketBounds.map((bound) => -bound).reverse();
  // roundDown finds the greatest bound that is not above the value; with negated bounds, the least one that is not below.
  return sql`if(${value} > ${bind.float(highest)}, inf, -roundDown(-${value}, ${bind.floats(negated)}))`;
}

/** Whether a series came by remote write, with Prometheus' names of labels. */
export const isFromPrometheus = sql`(unit = ${bind.text(prometheusUnit)})`;

/** Whether a series is one of `target_info` that Sounding writes; those that clients send have another unit. */
export const isTargetInfo = sql`(metric = ${bind.text(targetInfo.metric)} AND unit = ${bind.text(targetInfo.unit)})`;

/** Whether a text is encrypted. */
export function isSealed(text: Statement): Statement {
  return sql`startsWith(${text}, ${bind.text(sealedPrefix)})`;
}

/** Whether the message of a span is encrypted: that of a refused call, which can quote the request. */
export const hasSealedMessage = isSealed(sql`status_message`);
