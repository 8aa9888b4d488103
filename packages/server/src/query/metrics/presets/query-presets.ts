/** Serves `POST /observability/metrics`: evaluates a preset. */
import type { MetricsAnswer, MetricsQuery } from "../../../api/observability-metrics.ts";
import { CooperativeYield } from "../../../scheduling/cooperative-yield.ts";
import type { Store } from "../../../store/store.ts";
import type { Scope } from "../../../tenant.ts";
import { projectOf } from "../../project-filter.ts";
import { queryInstant, queryRange, type QueryResult } from "@sounding/promql/engine";
import { Budget, defaultLimits, type QueryMemory } from "@sounding/promql/evaluate/budget";
import { sortInSlices } from "@sounding/promql/evaluate/sort-in-slices";
import { compareLabels } from "@sounding/promql/series/labels";
import type { Expression } from "@sounding/promql/syntax/ast";
import { printExpression } from "@sounding/promql/syntax/print";
import type { MetricPresets } from "./metric-presets.ts";
import { namedLabels } from "../named-labels.ts";
import { checkCall, type PresetTimes } from "./preset-call.ts";
import { resultJson } from "../prometheus-json.ts";
import { createTenantMetrics } from "../tenant-metrics.ts";

export interface MetricsParts {
  readonly store: Pick<Store, "open">;
  readonly presets: MetricPresets;
}

export interface MetricsCaller {
  readonly scope: Scope;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  readonly memory: QueryMemory;
}

/** @throws AppError invalid_request, organization_mismatch, project_mismatch, or as the store and the engine do */
export async function queryPreset(
  { presets, store }: MetricsParts,
  query: MetricsQuery,
  { memory, nowMs, scope, signal }: MetricsCaller,
): Promise<MetricsAnswer> {
  const project = projectOf(scope, query);
  const preset = presets.find(query.metric);
  const call = checkCall(preset, query, { nowMs, project });
  const expression = preset.build(call);
  const storage = createTenantMetrics({ reader: store.open(scope), project, namedLabels: namedLabels(expression) });
  const { value } = await evaluate(storage, expression, { times: call.times, signal, memory });
  const timeMs = call.times.kind === "instant" ? call.times.timeMs : call.times.endMs;
  return {
    status: "success",
    query: printExpression(expression),
    data: {
      ...(resultJson(value, timeMs) as Pick<MetricsAnswer["data"], "resultType" | "result">),
      analysis: {},
    },
  };
}

async function evaluate(
  storage: ReturnType<typeof createTenantMetrics>,
  query: Expression,
  { times, ...call }: { times: PresetTimes; signal: AbortSignal; memory: QueryMemory },
): Promise<QueryResult> {
  const yielder = new CooperativeYield();
  const caller = { ...call, yielder };
  if (times.kind === "range") return queryRange(storage, { ...times, query, ...caller });
  const result = await queryInstant(storage, { query, timeMs: times.timeMs, ...caller });
  if (result.value.type !== "vector") return result;
  const samples = await sortInSlices(
    result.value.samples,
    (left, right) => compareLabels(left.labels, right.labels),
    new Budget(defaultLimits, caller.signal, { yielder }),
  );
  return { ...result, value: { type: "vector", samples } };
}
