/** What the overview knows of an organization's model calls: totals, values over time, and shares of models and projects. */
import {
  instantQuery,
  matchers,
  rangeQuery,
  stepSeconds,
  type InstantSeries,
  type Labels,
  type RangeSeries,
} from "../../api/promql.ts";
import { requestJson } from "../../api/request.ts";
import type { Moments } from "../../state/time-range.ts";

/** Calls of one model or one project. */
export interface CallGroup {
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  /** Milliseconds; undefined where nothing was measured. */
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
  readonly firstTokenP50Ms: number | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** In the currency of the configured prices; undefined if no model has a price. */
  readonly cost: number | undefined;
}

/** Values at the times of a summary; null where nothing happened. */
export type Values = readonly (number | null)[];

export interface CallsSummary {
  readonly moments: Moments;
  readonly total: CallGroup & { readonly firstTokenP95Ms: number | undefined };
  readonly models: readonly CallGroup[];
  readonly projects: readonly CallGroup[];
  /** The ends of the steps, milliseconds. */
  readonly times: readonly number[];
  readonly stepSeconds: number;
  readonly callsByModel: readonly { readonly model: string; readonly values: Values }[];
  readonly errors: Values;
  readonly p50Ms: Values;
  readonly p95Ms: Values;
  readonly firstTokenP50Ms: Values;
  readonly firstTokenP95Ms: Values;
  readonly inputTokens: Values;
  readonly outputTokens: Values;
}

type GroupLabel = "model_key" | "project_name";

/** @throws ApiError */
export async function readCalls(
  moments: Moments,
  project: string | undefined,
  signal: AbortSignal,
): Promise<CallsSummary> {
  const step = stepSeconds(moments);
  const times = stepTimes(moments, step);
  const range = `[${Math.max(1, Math.round((moments.endMs - moments.startMs) / 1000))}s]`;
  const all = matchers({ project_name: project });
  const failed = all === "" ? '{status!="success"}' : all.replace("}", ',status!="success"}');
  const now = (query: string) => instantQuery(query, moments.endMs, signal);
  const over = async (query: string): Promise<readonly RangeSeries[]> =>
    rangeQuery(query, { startMs: times[0]!, endMs: times.at(-1)!, stepSeconds: step }, signal);
  const quantile = (metric: string, q: number, window: string, by = "le") =>
    `histogram_quantile(${q}, sum by (${by}) (rate(${metric}_bucket${all}${window})))`;
  const duration = "inference_duration_seconds";
  const firstToken = "inference_time_to_first_token_seconds";
  const each = `[${step}s]`;
  const [
    calls,
    tokens,
    p50,
    p95,
    first50,
    costs,
    quantiles,
    callsOver,
    errorsOver,
    p50Over,
    p95Over,
    first50Over,
    first95Over,
    tokensOver,
  ] = await Promise.all([
    now(`sum by (model_key, project_name, status) (increase(inference_requests_total${all}${range}))`),
    now(`sum by (model_key, project_name, token_type) (increase(token_usage_total${all}${range}))`),
    byGroup((label) => now(quantile(duration, 0.5, range, `le, ${label}`))),
    byGroup((label) => now(quantile(duration, 0.95, range, `le, ${label}`))),
    byGroup((label) => now(quantile(firstToken, 0.5, range, `le, ${label}`))),
    readCosts(moments, project, signal),
    Promise.all([
      now(quantile(duration, 0.5, range)),
      now(quantile(duration, 0.95, range)),
      now(quantile(firstToken, 0.5, range)),
      now(quantile(firstToken, 0.95, range)),
    ]),
    over(`sum by (model_key) (increase(inference_requests_total${all}${each}))`),
    over(`sum(increase(inference_requests_total${failed}${each}))`),
    over(quantile(duration, 0.5, each)),
    over(quantile(duration, 0.95, each)),
    over(quantile(firstToken, 0.5, each)),
    over(quantile(firstToken, 0.95, each)),
    over(`sum by (token_type) (increase(token_usage_total${all}${each}))`),
  ]);
  const group = (label: GroupLabel, name: string): CallGroup => {
    const own = (series: readonly InstantSeries[]) => series.filter(({ metric }) => (metric[label] ?? "") === name);
    return {
      name,
      ...sums(own(calls), own(tokens)),
      p50Ms: milliseconds(own(p50[label])),
      p95Ms: milliseconds(own(p95[label])),
      firstTokenP50Ms: milliseconds(own(first50[label])),
      cost: label === "model_key" ? costs.get(name) : projectCosts.get(name),
    };
  };
  const projectCosts = await readProjectCosts({ calls, costs, moments }, signal);
  const groups = (label: GroupLabel) =>
    [...new Set(calls.map(({ metric }) => metric[label] ?? ""))]
      .map((name) => group(label, name))
      .filter((each) => each.calls > 0)
      .toSorted((a, b) => b.calls - a.calls);
  const seconds = (series: readonly RangeSeries[]) =>
    alignOne(series, times).map((value) => (value === null ? null : value * 1000));
  const tokenValues = (type: string) =>
    alignOne(
      tokensOver.filter(({ metric }) => metric["token_type"] === type),
      times,
    );
  return {
    moments,
    total: {
      name: "",
      ...sums(calls, tokens),
      p50Ms: milliseconds(quantiles[0]),
      p95Ms: milliseconds(quantiles[1]),
      firstTokenP50Ms: milliseconds(quantiles[2]),
      firstTokenP95Ms: milliseconds(quantiles[3]),
      cost: costs.size === 0 ? undefined : [...costs.values()].reduce((sum, cost) => sum + cost, 0),
    },
    models: groups("model_key"),
    projects: groups("project_name"),
    times,
    stepSeconds: step,
    callsByModel: callsOver.map((series) => ({
      model: series.metric["model_key"] ?? "",
      values: align(series, times),
    })),
    errors: alignOne(errorsOver, times),
    p50Ms: seconds(p50Over),
    p95Ms: seconds(p95Over),
    firstTokenP50Ms: seconds(first50Over),
    firstTokenP95Ms: seconds(first95Over),
    inputTokens: tokenValues("input"),
    outputTokens: tokenValues("output"),
  };
}

async function byGroup(
  ask: (label: GroupLabel) => Promise<readonly InstantSeries[]>,
): Promise<Record<GroupLabel, readonly InstantSeries[]>> {
  const [models, projects] = await Promise.all([ask("model_key"), ask("project_name")]);
  return { model_key: models, project_name: projects };
}

/** Known costs by model. */
async function readCosts(
  { startMs, endMs }: Moments,
  project: string | undefined,
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const minutes = Math.max(1, Math.round((endMs - startMs) / 60_000));
  const json = {
    metric: "token_cost",
    time_window: `${minutes}m`,
    end: new Date(endMs).toISOString(),
    ...(project === undefined ? {} : { project_name: project }),
  };
  const { data } = await requestJson<{ data: { result: InstantSeries[] } }>("observability/metrics", { json, signal });
  return new Map(data.result.map(({ metric, value }) => [metric["model_key"] ?? "", Number(value[1])]));
}

/** Projects whose costs are asked for one by one, since the metric has no label for them. */
const costedProjects = 10;

/** The costs of the projects with the most calls. */
async function readProjectCosts(
  {
    calls,
    costs,
    moments,
  }: {
    readonly calls: readonly InstantSeries[];
    readonly costs: ReadonlyMap<string, number>;
    readonly moments: Moments;
  },
  signal: AbortSignal,
): Promise<Map<string, number>> {
  if (costs.size === 0) return new Map();
  const counts = new Map<string, number>();
  for (const { metric, value } of calls) {
    const project = metric["project_name"] ?? "";
    if (project !== "") counts.set(project, (counts.get(project) ?? 0) + Number(value[1]));
  }
  const busiest = [...counts].toSorted(([, a], [, b]) => b - a).slice(0, costedProjects);
  const answers = busiest.map(async ([project]) => {
    const own = await readCosts(moments, project, signal);
    return [project, own] as const;
  });
  return new Map(
    (await Promise.all(answers)).flatMap(([project, own]) =>
      own.size === 0 ? [] : [[project, [...own.values()].reduce((sum, cost) => sum + cost, 0)] as const],
    ),
  );
}

function sums(calls: readonly InstantSeries[], tokens: readonly InstantSeries[]) {
  const sum = (series: readonly InstantSeries[], counts: (metric: Labels) => boolean): number =>
    series.filter(({ metric }) => counts(metric)).reduce((total, { value }) => total + Number(value[1]), 0);
  return {
    calls: Math.round(sum(calls, () => true)),
    errors: Math.round(sum(calls, ({ status }) => status !== "success")),
    inputTokens: Math.round(sum(tokens, ({ token_type: type }) => type === "input")),
    outputTokens: Math.round(sum(tokens, ({ token_type: type }) => type === "output")),
  };
}

function milliseconds(series: readonly InstantSeries[]): number | undefined {
  const seconds = Number(series[0]?.value[1]);
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

/** Multiples of the step, so that points stay where they are while the range moves. */
function stepTimes({ startMs, endMs }: Moments, step: number): number[] {
  const stepMs = step * 1000;
  const first = Math.ceil(startMs / stepMs) * stepMs;
  const last = Math.ceil(endMs / stepMs) * stepMs;
  return Array.from({ length: Math.round((last - first) / stepMs) + 1 }, (_, index) => first + index * stepMs);
}

function align(series: RangeSeries, times: readonly number[]): Values {
  const values = new Map(series.values.map(([seconds, value]) => [Math.round(seconds * 1000), Number(value)]));
  return times.map((ms) => {
    const value = values.get(ms);
    return value === undefined || !Number.isFinite(value) ? null : value;
  });
}

function alignOne(series: readonly RangeSeries[], times: readonly number[]): Values {
  return series[0] === undefined ? times.map(() => null) : align(series[0], times);
}
