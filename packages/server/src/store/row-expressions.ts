/** What rows of `spans` and `logs` are worth, in SQL: statements over rows and the sums of rows must agree. */
import { sql } from "./statement.ts";

/** How long a span took in nanoseconds; 0 if it ends before it starts. */
export const durationNanos = sql`greatest(toUnixTimestamp64Nano(end_time) - toUnixTimestamp64Nano(start_time), 0)`;

/** The least power of two that is not below the duration. */
export const durationBucket = sql`roundToExp2(toUInt64(${durationNanos} - 1)) * 2`;

/** Shorter durations than 2 ns have no bucket. */
export const hasDurationBucket = sql`${durationNanos} >= 2`;

/** Bytes of an entry's line, which is its body, or else the name of the event. */
export const lineBytes = sql`if(body = '', length(event_name), length(body))`;
