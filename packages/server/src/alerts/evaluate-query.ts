/** Evaluates the expression of a rule for an organization, on the path of its callers' queries. */
import { queryLogqlInstant } from "@sounding/logql/engine";
import { queryInstant } from "@sounding/promql/engine";
import type { Yielder } from "@sounding/promql/evaluate/budget";
import type { VectorSample } from "@sounding/promql/query-value";
import { entriesOf } from "@sounding/promql/series/labels";
import type { MemoryCharge } from "../memory-budget.ts";
import { createTenantLogs } from "../query/logs/logql-storage/tenant-logs.ts";
import { namedLabels } from "../query/metrics/named-labels.ts";
import { createTenantMetrics } from "../query/metrics/tenant-metrics.ts";
import { openReader } from "../query/open-reader.ts";
import type { Store } from "../store/store.ts";
import type { Scope } from "../tenant.ts";
import type { AlertSample } from "./advance-rule.ts";
import type { RuleQuery } from "../alert-rules/compile-group.ts";

interface QueryRun {
  readonly query: RuleQuery;
  readonly store: Pick<Store, "open" | "state">;
  readonly scope: Scope;
  readonly atMs: number;
  readonly timeoutMs: number;
  readonly memory: MemoryCharge;
  readonly yielder: Yielder;
  readonly signal: AbortSignal;
}

/** @throws AppError as queries of callers do */
export async function evaluateQuery({
  query,
  scope,
  store,
  atMs,
  timeoutMs,
  ...shared
}: QueryRun): Promise<AlertSample[]> {
  const reader = openReader(store, { scope, memory: shared.memory });
  const project = scope.namedProject;
  const options = { ...shared, limits: { timeoutMs } };
  if (query.language === "logql") {
    const timeUnixNano = BigInt(atMs) * 1_000_000n;
    const logs = createTenantLogs({ reader, project });
    const { value } = await queryLogqlInstant(logs, { ...options, query: query.expression, timeUnixNano });
    return samplesOf(value);
  }
  const metrics = createTenantMetrics({ reader, project, namedLabels: namedLabels(query.expression) });
  const { value } = await queryInstant(metrics, { ...options, query: query.expression, timeMs: atMs });
  return samplesOf(value);
}

function samplesOf(
  result:
    | { readonly type: "vector"; readonly samples: readonly VectorSample[] }
    | { readonly type: "scalar"; readonly value: number }
    | { readonly type: "string" | "matrix" | "streams" },
): AlertSample[] {
  if (result.type === "scalar") return [{ labels: new Map(), value: result.value }];
  if (result.type !== "vector") return [];
  // As in Prometheus, a native histogram has the value 0.
  return result.samples.map(({ histogram, labels, value }) => ({
    labels: new Map(entriesOf(labels)),
    value: histogram === null ? value : 0,
  }));
}
