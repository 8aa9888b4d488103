/** Routes of Prometheus' HTTP API. The key determines the organization and, if it is bound to one, the project. */
import { prometheusOperations, prometheusRoots, type PrometheusEndpoint } from "../../api/prometheus.ts";
import { AppError, type ErrorCode } from "../../errors.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import { route, type ErrorWriter, type Route, type RouteInput } from "../../http/route.ts";
import { inputLimit } from "../../input-limits.ts";
import type { MemoryCharge } from "../../memory-budget.ts";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { Store } from "../../store/store.ts";
import { queryInstant, queryRange, type QueryResult } from "@sounding/promql/engine";
import type { Expression } from "@sounding/promql/syntax/ast";
import { Budget, defaultLimits } from "@sounding/promql/evaluate/budget";
import { parseQuery } from "@sounding/promql/syntax/parse-query";
import { namedLabels } from "../metrics/named-labels.ts";
import { unescapeName } from "./unescape-name.ts";
import { labelsJson, listOf, resultJson } from "../metrics/prometheus-json.ts";
import { exemplarsJson, findExemplars } from "./prometheus-exemplars.ts";
import { listLabelNames, listLabelValues, listMetadata, listSeries, type ListRequest } from "./prometheus-lists.ts";
import { PrometheusParameters } from "./prometheus-parameters.ts";
import { alertsJson, rulesJson } from "./prometheus-rules.ts";
import type { RuleGroupReport } from "./rule-reports.ts";
import { createTenantMetrics, type TenantMetrics } from "../metrics/tenant-metrics.ts";
import type { Scope } from "../../tenant.ts";

interface PrometheusParts {
  readonly store: Pick<Store, "open">;
  readonly version: string;
  /** The alert rules that the scope may see. */
  readonly ruleGroups: (scope: Scope) => Promise<readonly RuleGroupReport[]>;
}

interface Call {
  readonly input: RouteInput<never>;
  readonly parameters: PrometheusParameters;
  readonly nowMs: number;
}

type Serve = (call: Call) => Promise<unknown>;

/** Large enough for the form of a percent-encoded query of 65,536 characters. */
const maximumFormBytes = inputLimit({
  area: "PromQL",
  bounds: "Form of a request to Prometheus' HTTP API",
  value: 524_288,
  unit: "bytes",
  error: "payload_too_large",
});
const rootText =
  "This is Sounding. Prometheus' HTTP API is under /prometheus/api/v1/ and needs an API key: as a Bearer token, or as the password of HTTP Basic authentication.\n";
const dayMs = 86_400_000;
const longestTimeoutMs = 60_000;

/** Without `ruleGroups`, there are no rules. */
export function prometheusRoutes(
  given: Omit<PrometheusParts, "ruleGroups"> & Partial<Pick<PrometheusParts, "ruleGroups">>,
): Route[] {
  const parts: PrometheusParts = { ruleGroups: async () => [], ...given };
  const servers: Readonly<Record<PrometheusEndpoint, Serve>> = {
    query: (call) => serveInstant(parts, call),
    queryRange: (call) => serveRange(parts, call),
    queryExemplars: (call) => serveExemplars(parts, call),
    series: async (call) => {
      const request = await listRequest(parts, call);
      if (request.selectors.length === 0) {
        throw new AppError("invalid_request", "no match[] parameter provided", { param: "match[]" });
      }
      const { items, warnings } = limited(await listSeries(request), call);
      return success(listOf(items, labelsJson), { warnings });
    },
    labels: async (call) => {
      const { items, warnings } = limited(await listLabelNames(await listRequest(parts, call)), call);
      return success(items, { warnings });
    },
    labelValues: async (call) => {
      const name = unescapeName((call.input.path as { name: string }).name);
      const { items, warnings } = limited(await listLabelValues(name, await listRequest(parts, call)), call);
      return success(items, { warnings });
    },
    metadata: (call) => serveMetadata(parts, call),
    rules: (call) => serveRules(parts, call),
    alerts: async ({ input }) => success(alertsJson(await parts.ruleGroups(input.scope))),
    // Tools read this to learn which features they can use; the API is that of Prometheus 3.
    buildInfo: async () => success({ version: "3.0.0", application: `Sounding ${parts.version}` }),
  };
  const roots = prometheusRoots.map((operation) =>
    route(operation, () => ({ kind: "text", text: rootText, type: "text/plain" }), errorForm),
  );
  const endpoints = Object.entries(prometheusOperations).flatMap(([endpoint, operations]) =>
    operations.map((operation) =>
      route(
        operation,
        async (input) => {
          const parameters = new PrometheusParameters(input.query, input.bytes.toString("utf8"));
          return incrementalJson(
            await servers[endpoint as PrometheusEndpoint]({ input, parameters, nowMs: Date.now() }),
          );
        },
        { ...errorForm, bodyLimitBytes: maximumFormBytes },
      ),
    ),
  );
  return [...roots, ...endpoints];
}

function success(data: unknown, { infos, warnings }: Partial<QueryResult> = {}): unknown {
  return {
    status: "success",
    data,
    ...(warnings === undefined || warnings.length === 0 ? {} : { warnings }),
    ...(infos === undefined || infos.length === 0 ? {} : { infos }),
  };
}

interface Evaluation {
  readonly query: Expression;
  readonly storage: TenantMetrics;
  readonly signal: AbortSignal;
  readonly memory: MemoryCharge;
  readonly yielder: CooperativeYield;
  readonly limits: { readonly timeoutMs: number };
  readonly lookbackMs: number | undefined;
}

async function evaluationOf({ store }: PrometheusParts, { input, parameters }: Call): Promise<Evaluation> {
  const { memory, scope, signal } = input;
  const yielder = new CooperativeYield();
  const query = await parseQuery(parameters.required("query"), new Budget(defaultLimits, signal, { yielder }));
  const reader = store.open(scope);
  const storage = createTenantMetrics({ reader, project: scope.namedProject, namedLabels: namedLabels(query) });
  const timeoutMs = Math.min(parameters.durationMs("timeout") ?? longestTimeoutMs, longestTimeoutMs);
  const lookbackMs = parameters.durationMs("lookback_delta");
  return { query, storage, signal, memory, yielder, limits: { timeoutMs }, lookbackMs };
}

async function serveInstant(parts: PrometheusParts, call: Call): Promise<unknown> {
  const { storage, ...evaluation } = await evaluationOf(parts, call);
  const timeMs = call.parameters.timeMs("time") ?? call.nowMs;
  const result = await queryInstant(storage, { ...evaluation, timeMs });
  const { value, warnings } = limitedResult(result, call);
  return success(resultJson(value, timeMs), { ...result, warnings });
}

async function serveRange(parts: PrometheusParts, call: Call): Promise<unknown> {
  const { storage, ...evaluation } = await evaluationOf(parts, call);
  const { parameters } = call;
  for (const name of ["start", "end", "step"]) parameters.required(name);
  const endMs = parameters.timeMs("end")!;
  const times = { startMs: parameters.timeMs("start")!, endMs, stepMs: parameters.durationMs("step")! };
  const result = await queryRange(storage, { ...evaluation, ...times });
  const { value, warnings } = limitedResult(result, call);
  return success(resultJson(value, endMs), { ...result, warnings });
}

async function serveExemplars({ store }: PrometheusParts, { input, nowMs, parameters }: Call): Promise<unknown> {
  const { memory, scope, signal } = input;
  const budget = new Budget(defaultLimits, signal, { memory, yielder: new CooperativeYield() });
  const query = await parseQuery(parameters.required("query"), budget);
  const toMs = parameters.timeMs("end") ?? nowMs;
  const fromMs = parameters.timeMs("start") ?? toMs - dayMs;
  if (toMs < fromMs) {
    throw new AppError("invalid_request", "end timestamp must not be before start timestamp", { param: "end" });
  }
  const request = { reader: store.open(scope), project: scope.namedProject, query, fromMs, toMs, budget };
  return success(listOf(await findExemplars(request), exemplarsJson));
}

async function listRequest({ store }: PrometheusParts, { input, nowMs, parameters }: Call): Promise<ListRequest> {
  const { memory, scope, signal } = input;
  const budget = new Budget(defaultLimits, signal, { memory, yielder: new CooperativeYield() });
  const toMs = parameters.timeMs("end") ?? nowMs;
  const fromMs = parameters.timeMs("start") ?? toMs - dayMs;
  const selectors = await parameters.selectors(budget);
  return { reader: store.open(scope), project: scope.namedProject, selectors, fromMs, toMs, budget };
}

async function serveRules({ ruleGroups }: PrometheusParts, { input, parameters }: Call): Promise<unknown> {
  const { memory, scope, signal } = input;
  const yieldBudget = new Budget(defaultLimits, signal, { memory, yielder: new CooperativeYield() });
  const selectors = await parameters.selectors(yieldBudget);
  return success(await rulesJson(await ruleGroups(scope), { parameters, selectors, yieldBudget }));
}

/** As Prometheus says it. */
const truncated = "results truncated due to limit";

/** The first items, and a warning if there are others. */
function limited<Item>(items: readonly Item[], { parameters }: Call): { items: readonly Item[]; warnings: string[] } {
  const first = items.slice(0, parameters.limit());
  return { items: first, warnings: first.length < items.length ? [truncated] : [] };
}

/** The same for the series of a result. */
function limitedResult({ value, warnings }: QueryResult, call: Call): Pick<QueryResult, "value" | "warnings"> {
  if (value.type === "vector") {
    const { items: samples, warnings: own } = limited(value.samples, call);
    return { value: { ...value, samples }, warnings: [...warnings, ...own] };
  }
  if (value.type !== "matrix") return { value, warnings };
  const { items: series, warnings: own } = limited(value.series, call);
  return { value: { ...value, series }, warnings: [...warnings, ...own] };
}

async function serveMetadata(parts: PrometheusParts, call: Call): Promise<unknown> {
  const metric = call.parameters.text("metric");
  const all = await listMetadata(await listRequest(parts, call));
  const found = [...all].filter(([name]) => metric === undefined || name === metric);
  return success(Object.fromEntries(limited(found, call).items));
}

/** Prometheus' error types. */
const errorTypes: Partial<Record<ErrorCode, string>> = {
  timeout: "timeout",
  upstream_timeout: "timeout",
  client_closed: "canceled",
  overloaded: "unavailable",
  rate_limited: "too_many_requests",
  internal: "internal",
  not_found: "not_found",
  invalid_api_key: "unauthorized",
  invalid_session: "unauthorized",
  permission_denied: "forbidden",
};

const writeError: ErrorWriter = (error: AppError) => ({
  bytes: Buffer.from(
    JSON.stringify({ status: "error", errorType: errorTypes[error.code] ?? "bad_data", error: error.message }),
  ),
  type: "application/json",
});

const errorForm = { writeError, errorsUnder: "/prometheus" } as const;
