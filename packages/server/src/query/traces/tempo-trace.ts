/** Converts traces to Tempo's format, with a summary of each trace. https://grafana.com/docs/tempo/latest/api_docs/#query */
import type { TracesAnswer } from "../../api/observability.ts";
import type { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { CostOfModels, ModelCalls } from "./model-cost.ts";
import { tempoForm, toResourceSpans, type SpanContext } from "./resource-spans.ts";
import type { StoredSpan } from "./spans.ts";

type Trace = TracesAnswer["traces"][number];

interface TraceSummary {
  readonly traceId: string;
  readonly root: Pick<StoredSpan, "service" | "name" | "status_code">;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly spanCount: number;
  readonly errorCount: number;
  readonly models: readonly ModelCalls[];
  /** Undefined if they were not requested. */
  readonly origins: { readonly projects: readonly string[]; readonly services: readonly string[] } | undefined;
}

/** The largest number of services in a summary. */
export const maximumServices = 20;

interface TraceContext extends SpanContext {
  readonly costOf: CostOfModels;
  /** Whether the summary has the projects and services. */
  readonly withOrigins: boolean;
}

/** The summary of a trace, which is the same with and without its spans. */
export function traceHead(summary: TraceSummary, costOf: CostOfModels): Trace {
  const { traceId, root, startUnixNano, endUnixNano, spanCount, errorCount, models, origins } = summary;
  const durationNano = endUnixNano > startUnixNano ? endUnixNano - startUnixNano : 0n;
  return {
    traceID: traceId,
    rootServiceName: root.service,
    rootTraceName: root.name,
    startTimeUnixNano: String(startUnixNano),
    durationMs: Number(durationNano / 1_000_000n),
    summary: {
      spanCount,
      errorCount,
      status: root.status_code === 2 ? "error" : root.status_code === 1 ? "ok" : "unset",
      durationNanos: String(durationNano),
      models: models.map(({ counts }) => counts),
      cost: costOf(models),
      ...(origins && {
        projects: origins.projects.toSorted(),
        services: origins.services
          .filter((service) => service !== "")
          .toSorted()
          .slice(0, maximumServices),
      }),
    },
  };
}

/** @param spans all spans of one trace, at least one, earliest first */
export async function toTempoTrace(
  spans: readonly StoredSpan[],
  context: TraceContext,
  yielder: CooperativeYield,
): Promise<Trace> {
  const ends = spans.map((span) => BigInt(span.end_nano));
  const head = traceHead(
    {
      traceId: spans[0]!.trace_id,
      root: rootOf(spans),
      startUnixNano: BigInt(spans[0]!.start_nano),
      endUnixNano: ends.reduce((latest, end) => (end > latest ? end : latest)),
      spanCount: spans.length,
      errorCount: spans.filter((span) => span.status_code === 2).length,
      models: modelsOf(spans),
      origins: context.withOrigins ? originsOf(spans) : undefined,
    },
    context.costOf,
  );
  return { ...head, batches: await toResourceSpans(spans, context, { form: tempoForm, yielder }) };
}

function originsOf(spans: readonly StoredSpan[]): TraceSummary["origins"] {
  return {
    projects: [...new Set(spans.map(({ project }) => project))],
    services: [...new Set(spans.map(({ service }) => service))],
  };
}

function modelsOf(spans: readonly StoredSpan[]): ModelCalls[] {
  const servedKeys = new Set(spans.filter(({ served }) => served === 1).flatMap(({ call_keys }) => call_keys));
  const counted = spans.filter(
    ({ called_model, served, call_keys }) =>
      called_model !== "" && (served === 1 || !call_keys.some((key) => servedKeys.has(key))),
  );
  const byModel = Map.groupBy(counted, ({ called_model }) => called_model);
  return [...byModel]
    .map(([model, calls]) => {
      const priced = calls.filter((call) => call.priced === 1);
      return {
        counts: { model, calls: calls.length, ...tokensOf(calls) },
        pricedCalls: priced.length,
        costBillionths: priced.reduce((sum, call) => sum + Number(call.cost_billionths), 0),
        unpriced: tokensOf(calls.filter((call) => call.priced !== 1)),
      };
    })
    .sort((left, right) => (left.counts.model < right.counts.model ? -1 : 1));
}

function tokensOf(calls: readonly StoredSpan[]): ModelCalls["unpriced"] {
  const sum = (column: "input_tokens" | "output_tokens" | "cache_read_tokens" | "cache_write_tokens"): number =>
    calls.reduce((total, call) => total + Number(call[column]), 0);
  return {
    inputTokens: sum("input_tokens"),
    outputTokens: sum("output_tokens"),
    cacheReadTokens: sum("cache_read_tokens"),
    cacheWriteTokens: sum("cache_write_tokens"),
  };
}

/** The earliest span without a parent; if the root has not arrived, the earliest span. */
function rootOf(spans: readonly StoredSpan[]): StoredSpan {
  return spans.find((span) => span.parent_span_id === "") ?? spans[0]!;
}
