/** Adds up what one organization's calls cost: from sums by quarter of an hour, and from spans where there are none. */
import { countedSpend, spendQuarters } from "../../store/rollups/spend-quarters.ts";
import { rolledUpPart } from "../../store/rollups/rolled-up-part.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { allOf } from "../conditions.ts";
import { groupColumn, type Grouping } from "./spend-groups.ts";
import { addAmounts, noAmounts, type Amounts, type SpendGroup } from "./spend-amounts.ts";

export interface SpendSearch {
  readonly groupings: readonly Grouping[];
  /** On the columns of sums. */
  readonly conditions: readonly Statement[];
  /** Whether users or tags are asked for. */
  readonly isDetailed: boolean;
  /** Whether conditions name users or tags. */
  readonly isFiltered: boolean;
  /** Calls that ended after this time, and until the other. */
  readonly fromMs: number;
  readonly toMs: number;
  /** In UNIX seconds. */
  readonly dayStarts: readonly number[];
  /** Of amounts that were stored without one. */
  readonly currency: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface SpendSums {
  /** Those with the highest cost, in this order. */
  readonly groups: readonly SpendGroup[];
  readonly isTruncated: boolean;
  /** By currency, of all groups. */
  readonly totals: ReadonlyMap<string, Amounts>;
}

interface SpendRow {
  readonly group_values: readonly string[];
  readonly currency_code: string;
  readonly last_key_name: string;
  readonly cost: string;
  readonly counts: readonly string[];
}

const quarterSeconds = 900;
/** One for each dimension that a request may name. */
const groupNames = [sql`group_0`, sql`group_1`, sql`group_2`, sql`group_3`];
const msNanos = 1_000_000n;

/** @throws AppError as the store does */
export async function readSpend(reader: TenantReader, search: SpendSearch): Promise<SpendSums> {
  const parts = await partsOf(reader, search);
  const read = async (groupings: readonly Grouping[], limit: number, isDetailed: boolean): Promise<SpendGroup[]> => {
    const calls = selectCalls(parts, { ...search, isDetailed });
    const options = { signal: search.signal, duplicates: "kept", maximumRows: limit } as const;
    const groups: SpendGroup[] = [];
    // Reading yields to other requests.
    for await (const row of reader.stream<SpendRow>(sumsOf(calls, groupings, { ...search, limit }), options)) {
      groups.push(toGroup(row));
    }
    return groups;
  };
  const found = await read(search.groupings, search.limit + 1, search.isDetailed);
  const isTruncated = found.length > search.limit;
  // The sums without users and tags are few, and add up to the same.
  const all = isTruncated ? await read([], mostCurrencies, search.isFiltered) : found;
  const totals = new Map<string, Amounts>();
  for (const { amounts, currency } of all) {
    totals.set(currency, addAmounts(totals.get(currency) ?? noAmounts, amounts));
  }
  return { groups: found.slice(0, search.limit), isTruncated, totals };
}

const mostCurrencies = 1000;

function toGroup({ cost, counts, currency_code: currency, group_values: values, last_key_name }: SpendRow): SpendGroup {
  const [calls, unpricedCalls, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens] = counts.map(Number);
  return {
    values,
    currency,
    keyName: last_key_name,
    amounts: {
      costBillionths: BigInt(cost),
      calls: calls!,
      unpricedCalls: unpricedCalls!,
      inputTokens: inputTokens!,
      outputTokens: outputTokens!,
      cacheReadTokens: cacheReadTokens!,
      cacheWriteTokens: cacheWriteTokens!,
    },
  };
}

function sumsOf(
  calls: Statement,
  groupings: readonly Grouping[],
  { currency, dayStarts, limit }: SpendSearch,
): Statement {
  // Columns are grouped as they are: arrays of texts take twice as long.
  const keys = groupings.map((grouping, index) => ({ grouping, name: groupNames[index]! }));
  const grouped = keys.map(({ grouping, name }) => sql`${groupColumn(grouping, dayStarts)} AS ${name}`);
  const values = keys.map(({ name }) => sql`toString(${name})`);
  const keyName = groupings.some(({ dimension }) => dimension === "key") ? sql`max(toString(key_name))` : sql`''`;
  return sql`SELECT ${values.length === 0 ? sql`CAST([], 'Array(String)')` : sql`[${join(values, sql`, `)}]`} AS group_values,
      if(currency = '', ${bind.text(currency)}, toString(currency)) AS currency_code, ${keyName} AS last_key_name,
      toString(sum(cost_billionths)) AS cost,
      [sum(calls), sum(unpriced_calls), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens)] AS counts
    FROM (SELECT *${join(
      grouped.map((each) => sql`, ${each}`),
      sql``,
    )} FROM (${calls}))
    GROUP BY ${join([...keys.map(({ name }) => name), sql`currency_code`], sql`, `)}
    ORDER BY sum(cost_billionths) DESC, sum(calls) DESC, group_values LIMIT ${bind.uint32(limit)}`;
}

const columns = sql`project, model_key, engine, key_id, key_name, currency, user_id, tags,
  calls, unpriced_calls, cost_billionths, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens`;

interface Parts {
  /** Of sums; undefined: there are none. */
  readonly summed: Statement | undefined;
  /** What has to be read from spans. */
  readonly rest: readonly { readonly fromMs: number; readonly toMs: number }[];
}

async function partsOf(reader: TenantReader, { dayStarts, fromMs, signal, toMs }: SpendSearch): Promise<Parts> {
  const range = { fromUnixNano: BigInt(fromMs) * msNanos + 1n, toUnixNano: BigInt(toMs) * msNanos };
  // In the past, some clocks differed from UTC by odd seconds.
  const isSummed = dayStarts.every((start) => start % quarterSeconds === 0);
  const part = await rolledUpPart(spendQuarters, range, { reader, signal, isSummed });
  const rest = part.rest
    .map(({ fromUnixNano, toUnixNano }) => ({
      fromMs: Number((fromUnixNano + msNanos - 1n) / msNanos),
      toMs: Number(toUnixNano / msNanos),
    }))
    .filter((each) => each.fromMs <= each.toMs);
  return { summed: part.condition, rest };
}

/** The calls of the range, or sums of them. */
function selectCalls({ rest, summed }: Parts, { conditions, isDetailed }: SpendSearch): Statement {
  const sources: Statement[] = [];
  if (summed !== undefined) {
    const ofTenant = [sql`organization = ${callerOrganization}`, summed];
    const level = sql`is_detailed = ${bind.uint8(isDetailed ? 1 : 0)}`;
    sources.push(sql`SELECT toInt64(toUnixTimestamp(minute)) AS ended_seconds, ${columns} FROM spend_quarters
      WHERE ${allOf([...ofTenant, level, ...conditions])}`);
  }
  if (rest.length > 0) {
    const where = conditions.length === 0 ? sql`` : sql` WHERE ${allOf(conditions)}`;
    sources.push(sql`SELECT ended_seconds, ${columns} FROM ${countedSpend(rest)}${where}`);
  }
  return sources.length === 0 ? nothing : join(sources, sql` UNION ALL `);
}

/** An hour without writes has no calls. */
const nothing = sql`SELECT toInt64(0) AS ended_seconds, ${columns} FROM spend_quarters
  WHERE organization = ${callerOrganization} AND 0`;
