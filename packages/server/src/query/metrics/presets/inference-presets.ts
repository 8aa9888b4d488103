/** Metric presets about model calls and tokens. */
import type { Expression, LabelMatcher } from "@sounding/promql/syntax/ast";
import type { RatesOfModels } from "../../../pricing/current-rates.ts";
import { aggregate, betweenVectors, call, constantSeries, number, range, withNumber } from "./expression-factories.ts";
import type { MetricPreset, PresetCall, PresetFilter } from "./preset.ts";

const filters: readonly PresetFilter[] = [
  "project_name",
  "service_name",
  "agent_name",
  "agent_class",
  "model_key",
  "session_id",
  "user_id",
  "key_id",
];
const group = "Inference";

/** `sum by (labels) (increase(name{matchers}[window]))`. */
export function increaseOf(
  name: string,
  labels: readonly string[],
  { matchers, windowSeconds }: PresetCall,
): Expression {
  return aggregate("sum", labels, call("increase", range(name, matchers, windowSeconds)));
}

export function rateOf(name: string, labels: readonly string[], { matchers, windowSeconds }: PresetCall): Expression {
  return aggregate("sum", labels, call("rate", range(name, matchers, windowSeconds)));
}

/** A quotient, only where the divisor is not zero. */
export function quotient(dividend: Expression, divisor: Expression): Expression {
  return betweenVectors(dividend, "/", withNumber(divisor, ">", 0));
}

/** A quantile of a histogram, by labels. */
export function quantileOf(histogram: string, labels: readonly string[], presetCall: PresetCall): Expression {
  const buckets = rateOf(`${histogram}_bucket`, ["le", ...labels], presetCall);
  return call("histogram_quantile", number(presetCall.percentile), buckets);
}

export const inferencePresets: readonly MetricPreset[] = [
  {
    name: "inference_requests_total",
    group,
    description: "Number of model calls that ended in the time window.",
    unit: "calls",
    labels: [],
    filters,
    build: (presetCall) => increaseOf("inference_requests_total", [], presetCall),
  },
  {
    name: "inference_active_model_count",
    group,
    description: "Number of distinct models that were called.",
    unit: "models",
    labels: [],
    filters,
    build: (presetCall) =>
      aggregate("count", [], withNumber(increaseOf("inference_requests_total", ["model_key"], presetCall), ">", 0)),
  },
  {
    name: "inference_model_usage",
    group,
    description: "Rate of calls per model.",
    unit: "calls per second",
    labels: ["model_key"],
    filters,
    build: (presetCall) => rateOf("inference_requests_total", ["model_key"], presetCall),
  },
  {
    name: "inference_latency",
    group,
    description: "Duration of model calls, at a percentile.",
    unit: "seconds",
    labels: [],
    filters: [...filters, "percentile"],
    build: (presetCall) => quantileOf("inference_duration_seconds", [], presetCall),
  },
  {
    name: "inference_error_rate",
    group,
    description: "Share of model calls that failed or timed out.",
    unit: "share, 0 to 1",
    labels: [],
    filters,
    build(presetCall) {
      const failed: LabelMatcher = { name: "status", operator: "!=", value: "success" };
      const failures = increaseOf("inference_requests_total", [], {
        ...presetCall,
        matchers: [...presetCall.matchers, failed],
      });
      const none = call("vector", number(0));
      return quotient(betweenVectors(failures, "or", none), increaseOf("inference_requests_total", [], presetCall));
    },
  },
  {
    name: "inference_time_to_first_token",
    group,
    description: "Time until callers received the first chunk of a streamed response, at a percentile.",
    unit: "seconds",
    labels: [],
    filters: [...filters, "percentile"],
    build: (presetCall) => quantileOf("inference_time_to_first_token_seconds", [], presetCall),
  },
  {
    name: "inference_request_rate_min",
    group,
    description: "Number of model calls that ended per minute.",
    unit: "calls per minute",
    labels: [],
    filters,
    build: (presetCall) => withNumber(rateOf("inference_requests_total", [], presetCall), "*", 60),
  },
  {
    name: "average_response_time",
    group,
    description: "Average duration of model calls.",
    unit: "seconds",
    labels: [],
    filters,
    build: (presetCall) =>
      quotient(
        increaseOf("inference_duration_seconds_sum", [], presetCall),
        increaseOf("inference_duration_seconds_count", [], presetCall),
      ),
  },
  {
    name: "token_consumption",
    group: "Tokens",
    description: "Number of tokens that models read (`input`) and generated (`output`).",
    unit: "tokens",
    labels: ["model_key", "agent_class", "token_type"],
    filters,
    build: (presetCall) => increaseOf("token_usage_total", ["model_key", "agent_class", "token_type"], presetCall),
  },
];

/** The preset of token costs. @param ratesOf what configured prices say now, for calls whose cost was not recorded */
export function tokenCostPreset(ratesOf: RatesOfModels): MetricPreset {
  return {
    name: "token_cost",
    group: "Tokens",
    description:
      "What calls cost: as recorded with the call, else its tokens at today's configured price (`telemetry.token_prices`). Calls of models without a price are not included.",
    unit: "the currency of the prices (`telemetry.currency`)",
    labels: ["model_key"],
    filters,
    build: (presetCall) => costOf(ratesOf(), presetCall),
  };
}

/**
 * Recorded costs, and other tokens times prices. Prices are constant series with the same labels, so few store queries serve any
 * number of models. Cached tokens are part of the input, so that they count with the difference of their price.
 */
function costOf(rates: ReturnType<RatesOfModels>, presetCall: PresetCall): Expression {
  const recorded = increaseOf("inference_cost_total", ["model_key"], presetCall);
  const wanted = presetCall.matchers.find(({ name }) => name === "model_key")?.value;
  const priced = Object.entries(rates).filter(([model]) => wanted === undefined || model === wanted);
  if (priced.length === 0) return recorded;
  const series = priced.flatMap(([model, { cacheRead, cacheWrite, input, output }]) =>
    Object.entries({ input, output, cache_read: cacheRead - input, cache_write: cacheWrite - input }).map(
      ([type, amount]) => constantSeries(amount / 1e6, { model_key: model, token_type: type }),
    ),
  );
  const tokens = increaseOf("unpriced_token_usage_total", ["model_key", "token_type"], presetCall);
  const computed = betweenVectors(tokens, "*", unionOf(series));
  return aggregate("sum", ["model_key"], betweenVectors(recorded, "or", computed));
}

/** A balanced tree, because the depth of queries is limited. */
function unionOf(parts: readonly Expression[]): Expression {
  if (parts.length === 1) return parts[0]!;
  const middle = parts.length >> 1;
  return betweenVectors(unionOf(parts.slice(0, middle)), "or", unionOf(parts.slice(middle)));
}
