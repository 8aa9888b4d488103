/** Reads the summaries of traces without their spans. */
import type { TracesAnswer } from "../../api/observability.ts";
import { sql, type Statement } from "../../store/statement.ts";
import type { TenantReader } from "../../store/store.ts";
import { callKeys, calledModel, type CostOfModels, type ModelCalls } from "./model-cost.ts";
import { traceHead } from "./tempo-trace.ts";

type Trace = TracesAnswer["traces"][number];

/**
 * Spans without duplicates, each with `served_keys`: the keys of the calls of its trace that this server served.
 * `callsOfModels` counts their calls.
 */
export function spansOfTraces(condition: Statement): Statement {
  return sql`(SELECT *, groupUniqArrayArrayIf(call_keys, served = 1) OVER (PARTITION BY trace_id) AS served_keys FROM (
      SELECT trace_id, span_id, parent_span_id, project, service, name, status_code, start_time, end_time, session_id,
        ${calledModel} AS called_model, served, ${callKeys} AS call_keys, input_tokens, output_tokens,
        cache_read_tokens, cache_write_tokens, priced, cost_billionths
      FROM spans WHERE ${condition}
      LIMIT 1 BY trace_id, span_id, start_time
    ))`;
}

/**
 * Models, their calls, input tokens, output tokens, and of the input tokens those read from and written to caches; calls with a
 * recorded cost, the sum of these costs, and the tokens of the other calls in the same order.
 */
export type CallsOfModels = readonly [names: string[], ...sums: string[][]];

const tokenColumns = sql`[input_tokens], [output_tokens], [cache_read_tokens], [cache_write_tokens]`;
const unpricedColumns = sql`[if(priced = 1, 0, input_tokens)], [if(priced = 1, 0, output_tokens)],
  [if(priced = 1, 0, cache_read_tokens)], [if(priced = 1, 0, cache_write_tokens)]`;

export const callsOfModels = sql`sumMapIf([called_model], [toUInt64(1)], ${tokenColumns}, [toUInt64(priced)], [cost_billionths],
  ${unpricedColumns}, called_model != '' AND (served = 1 OR NOT hasAny(call_keys, served_keys)))`;

interface HeadRow {
  readonly trace_id: string;
  readonly root_service: string;
  readonly root_name: string;
  readonly root_status: number;
  readonly start_nano: string;
  readonly end_nano: string;
  readonly spans: string;
  readonly errors: string;
  readonly models: CallsOfModels;
  readonly projects: string[];
  readonly services: string[];
}

interface HeadOptions {
  readonly costOf: CostOfModels;
  readonly signal: AbortSignal;
  /** Whether to return the projects and services. */
  readonly withOrigins: boolean;
}

/** The root is the one that `rootOf` finds. */
export async function readHeads(
  reader: TenantReader,
  condition: Statement,
  { costOf, signal, withOrigins }: HeadOptions,
): Promise<Trace[]> {
  const order = sql`(parent_span_id != '', start_time, span_id)`;
  const rows = await reader.query<HeadRow>(
    sql`SELECT trace_id, argMin(service, ${order}) AS root_service, argMin(name, ${order}) AS root_name,
        argMin(status_code, ${order}) AS root_status,
        toUnixTimestamp64Nano(min(start_time)) AS start_nano, toUnixTimestamp64Nano(max(end_time)) AS end_nano,
        count() AS spans, countIf(status_code = 2) AS errors, ${callsOfModels} AS models,
        groupUniqArray(project) AS projects, groupUniqArray(service) AS services
      FROM ${spansOfTraces(condition)} GROUP BY trace_id`,
    { signal, duplicates: "kept" },
  );
  return rows.map((row) =>
    traceHead(
      {
        traceId: row.trace_id,
        root: { service: row.root_service, name: row.root_name, status_code: row.root_status },
        startUnixNano: BigInt(row.start_nano),
        endUnixNano: BigInt(row.end_nano),
        spanCount: Number(row.spans),
        errorCount: Number(row.errors),
        models: toModels(row.models),
        origins: withOrigins ? row : undefined,
      },
      costOf,
    ),
  );
}

export function toModels([names, ...sums]: CallsOfModels): ModelCalls[] {
  return names.map((model, index) => {
    const numbers = sums.map((column) => Number(column[index]));
    const [calls, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, pricedCalls, costBillionths] =
      numbers as [number, number, number, number, number, number, number];
    const [input, output, cacheRead, cacheWrite] = numbers.slice(7) as [number, number, number, number];
    return {
      counts: { model, calls, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
      pricedCalls,
      costBillionths,
      unpriced: { inputTokens: input, outputTokens: output, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite },
    };
  });
}
