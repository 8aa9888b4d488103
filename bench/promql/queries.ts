/** The benchmarked queries: those of typical dashboards, and the presets. */
import { completeRates } from "../../packages/server/src/pricing/model-price.ts";

export const organizationId = "org_bench";
const rates = {
  "model-0": completeRates({ input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 }),
  "model-1": completeRates({ input: 1, output: 4 }),
};
export const ratesOf = () => rates;

export interface DashboardQuery {
  readonly query: string;
  /** How far back a range query goes; absent: an instant query at the end. */
  readonly hours?: number;
}

/** Number of steps of the range queries. */
export const dashboardStepSeconds = 60;

export const dashboardQueries: readonly DashboardQuery[] = [
  { query: "sum by (route) (rate(http_requests_total[5m]))", hours: 6 },
  { query: 'sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m]))', hours: 6 },
  { query: "topk(10, sum by (instance, route) (rate(http_requests_total[5m])))" },
  { query: "histogram_quantile(0.95, sum by (le) (rate(request_duration_seconds_bucket[5m])))", hours: 6 },
  { query: "sum by (instance) (memory_usage_bytes)", hours: 6 },
  { query: "max by (instance) (max_over_time(memory_usage_bytes[10m]))", hours: 1 },
  { query: 'increase(http_requests_total{instance="i7"}[1h])' },
  { query: "avg(memory_usage_bytes)" },
  { query: 'http_requests_total{instance="i3",route="/r5"}', hours: 6 },
  { query: "rate(request_duration_seconds_sum[5m]) / rate(request_duration_seconds_count[5m])", hours: 1 },
];

/** The presets in the two measured forms. */
export const presetForms = [
  { title: "vector over 1 h", parameters: { time_window: "1h" }, aimMs: 150 },
  { title: "matrix of 24 h, step 15 m", parameters: { time_window: "24h", step: "15m" }, aimMs: 400 },
] as const;
