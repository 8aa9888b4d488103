/**
 * Defines the sums of what model calls cost, by the quarter of an hour in which they ended: days begin at a quarter of an hour in
 * every time zone. docs/adr/0235-prices-and-spend.md
 */
import { endedWithin, type EndRange, isCounted } from "../counted-calls.ts";
import { endMs, isInference } from "../row-expressions.ts";
import { spanLabels } from "../span-labels.ts";
import { bind, sql, type Statement } from "../statement.ts";
import { callMinutes } from "./call-minutes.ts";
import { type HourRange, nameType, type Rollup, type RollupColumn } from "./rollup.ts";

/** Begins the names of the attributes with the pairs of a request's `metadata`. */
export const metadataPrefix = "sounding.metadata.";

/** Pairs of a name and a value, sorted by name. */
const tags = sql`arraySort(arrayMap(name -> (substring(name, ${bind.uint32(metadataPrefix.length + 1)}), attributes[name]),
  arrayFilter(name -> startsWith(name, ${bind.text(metadataPrefix)}), mapKeys(attributes))))`;

/** A call that failed and used nothing costs nothing; of every other call without a cost, the cost is unknown. */
const isUnpriced = sql`priced = 0 AND (error_type = '' OR input_tokens + output_tokens > 0)`;

/** The counted model calls that ended in the ranges, under the names that sums have. A call ends in the second that its last moment is in. */
export function countedSpend(ranges: readonly EndRange[]): Statement {
  return sql`(SELECT project, days, intDiv(${endMs} * 1000000 - 1, 1000000000) AS ended_seconds, operation, provider,
      ${spanLabels.model_key} AS model_key, attributes['sounding.engine'] AS engine, ${spanLabels.key_id} AS key_id,
      currency, ${spanLabels.user_id} AS user_id, ${tags} AS tags, ${spanLabels.key_name} AS key_name, toUInt64(1) AS calls,
      toUInt64(${isUnpriced}) AS unpriced_calls, toUInt128(cost_billionths) AS cost_billionths, input_tokens, output_tokens,
      cache_read_tokens, cache_write_tokens
    FROM spans FINAL WHERE ${endedWithin(ranges)} AND ${isInference} AND ${isCounted(ranges)})`;
}

function countedInHour({ fromUnixNano, toUnixNano }: HourRange): Statement {
  const range = { fromMs: Number(fromUnixNano / 1_000_000n) + 1, toMs: Number(toUnixNano / 1_000_000n) };
  return sql`${countedSpend([range])} AS counted ARRAY JOIN [1, 0] AS is_detailed WHERE 1`;
}

function label(value: Statement): RollupColumn {
  return { type: nameType, value };
}

function total(column: Statement): RollupColumn {
  return { type: "UInt64", value: sql`sum(${column})` };
}

export const spendQuarters: Rollup = {
  name: "spend_quarters",
  source: "spend",
  touchedWith: "calls",
  table: "spans",
  touchedHours: callMinutes.touchedHours,
  rows: countedInHour,
  minute: sql`intDiv(ended_seconds, 900) * 900`,
  level: "is_detailed",
  groupedBy: {
    /** 1 for sums by all labels; 0 for fewer, larger sums without users and tags. */
    is_detailed: { type: "UInt8", value: sql`is_detailed` },
    operation: label(sql`operation`),
    provider: label(sql`provider`),
    model_key: label(sql`model_key`),
    engine: label(sql`engine`),
    key_id: label(sql`key_id`),
    /** Empty for calls that were stored without one. */
    currency: label(sql`currency`),
    user_id: { type: "String", value: sql`if(is_detailed = 1, user_id, '')` },
    tags: { type: "Array(Tuple(String, String))", value: sql`if(is_detailed = 1, tags, [])` },
  },
  sums: {
    /** The name that the key had. */
    key_name: { type: nameType, value: sql`max(key_name)` },
    calls: total(sql`calls`),
    unpriced_calls: total(sql`unpriced_calls`),
    cost_billionths: { type: "UInt128", value: sql`sum(cost_billionths)` },
    input_tokens: total(sql`input_tokens`),
    output_tokens: total(sql`output_tokens`),
    cache_read_tokens: total(sql`cache_read_tokens`),
    cache_write_tokens: total(sql`cache_write_tokens`),
  },
};
