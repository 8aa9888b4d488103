/** Defines the metrics of what model calls use and cost. */
import { isInference } from "../../../store/row-expressions.ts";
import { sql } from "../../../store/statement.ts";
import { agentLabels, spanMetric as metric, type SpanMetric } from "./span-metric.ts";

const tokenTypes = sql`['input', 'output', 'cache_read', 'cache_write']`;

export const tokenMetrics: readonly SpanMetric[] = [
  metric({
    name: "token_usage_total",
    type: "counter",
    unit: "",
    help: "Tokens that models read and generated.",
    source: "`gen_ai.usage.input_tokens` and `gen_ai.usage.output_tokens` of model call spans.",
    labels: [...agentLabels, "model_key", "provider", "operation", "token_type"],
    condition: isInference,
    countsCalls: true,
    arrayJoin: sql`['input', 'output'] AS token_type, [input_tokens, output_tokens] AS tokens`,
    itemCondition: sql`tokens > 0`,
    hasItems: sql`(input_tokens > 0 OR output_tokens > 0)`,
    value: sql`toFloat64(tokens)`,
    sums: { condition: isInference, value: sql`tokens` },
  }),
  metric({
    name: "cached_token_usage_total",
    type: "counter",
    unit: "",
    help: "Input tokens that models read from caches of prompts (`cache_read`) or wrote to them (`cache_write`).",
    source:
      "`gen_ai.usage.cache_read.input_tokens` and `gen_ai.usage.cache_creation.input_tokens` of model call spans; both are part of the input tokens.",
    labels: [...agentLabels, "model_key", "provider", "operation", "token_type"],
    condition: isInference,
    countsCalls: true,
    arrayJoin: sql`['cache_read', 'cache_write'] AS token_type, [cache_read_tokens, cache_write_tokens] AS tokens`,
    itemCondition: sql`tokens > 0`,
    hasItems: sql`(cache_read_tokens > 0 OR cache_write_tokens > 0)`,
    value: sql`toFloat64(tokens)`,
    sums: { condition: isInference, value: sql`tokens` },
  }),
  metric({
    name: "inference_cost_total",
    type: "counter",
    unit: "",
    help: "What model calls cost, in the currency of the server's prices; calls without a known cost are not included.",
    source: "`gen_ai.usage.cost` of model call spans, or the cost that was computed when the span arrived.",
    labels: [...agentLabels, "model_key", "provider", "operation"],
    condition: sql`${isInference} AND priced = 1`,
    countsCalls: true,
    value: sql`(cost_billionths / 1e9)`,
    sums: { condition: sql`${isInference} AND priced_calls > 0`, value: sql`cost_billionths / 1e9` },
  }),
  metric({
    name: "unpriced_token_usage_total",
    type: "counter",
    unit: "",
    help: "Tokens of calls without a known cost; `cache_read` and `cache_write` are part of `input`.",
    source: "The same attributes as those of `token_usage_total` and `cached_token_usage_total`.",
    labels: [...agentLabels, "model_key", "provider", "operation", "token_type"],
    condition: sql`${isInference} AND priced = 0`,
    countsCalls: true,
    arrayJoin: sql`${tokenTypes} AS token_type, [input_tokens, output_tokens, cache_read_tokens, cache_write_tokens] AS tokens`,
    itemCondition: sql`tokens > 0`,
    hasItems: sql`(input_tokens > 0 OR output_tokens > 0 OR cache_read_tokens > 0 OR cache_write_tokens > 0)`,
    value: sql`toFloat64(tokens)`,
    sums: {
      condition: isInference,
      arrayJoin: sql`${tokenTypes} AS token_type, [input_tokens - priced_input_tokens, output_tokens - priced_output_tokens,
        cache_read_tokens - priced_cache_read_tokens, cache_write_tokens - priced_cache_write_tokens] AS tokens`,
      value: sql`tokens`,
    },
  }),
];
