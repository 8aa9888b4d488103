/** Additional presets of metrics queries, and token prices: `telemetry.metric_presets` and `telemetry.token_prices`. */
import { Type, type Static } from "typebox";

const metricPreset = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      description:
        'PromQL that returns an instant vector. `[range()]` is replaced by the time window (or, for a matrix, the step). A label matched with `"$project_name"`, `"$service_name"`, `"$agent_name"`, `"$agent_class"`, `"$model_key"`, `"$session_id"`, `"$status"` or `"$category"` is matched with that filter of the call, and not at all if the call does not set it.',
    }),
    description: Type.Optional(Type.String({ minLength: 1, description: "Description of the metric, for people." })),
    unit: Type.Optional(Type.String({ minLength: 1, description: "Unit of the values, for people." })),
  },
  { description: "A query with parameters." },
);

export const metricPresets = Type.Record(Type.String({ minLength: 1 }), metricPreset, {
  default: {},
  propertyNames: { pattern: "^[a-z][a-z0-9_]{0,63}$" },
  description: "Additional values of `metric` in metrics queries, by name: lower-case letters, digits and `_`.",
});
export type MetricPresetSettings = Static<typeof metricPreset>;

export const tokenPrices = Type.Record(
  Type.String({ minLength: 1 }),
  Type.Object(
    {
      input: Type.Optional(
        Type.Number({
          minimum: 0,
          description:
            "Price of one million input tokens. Absent: what the model's vendor publishes, in US dollars; if no vendor does, the server does not start.",
        }),
      ),
      output: Type.Optional(
        Type.Number({ minimum: 0, description: "Price of one million output tokens. Absent: as for `input`." }),
      ),
      published: Type.Optional(
        Type.String({
          minLength: 1,
          description: "The vendor's name of the model, for published prices. Absent: the model ID.",
        }),
      ),
      cache_read: Type.Optional(
        Type.Number({
          minimum: 0,
          description:
            "Price of one million input tokens that the vendor read from its cache. Absent: the share of `input` that the vendor publishes for the model, else `input`.",
        }),
      ),
      cache_write: Type.Optional(
        Type.Number({
          minimum: 0,
          description:
            "Price of one million input tokens that the vendor wrote to its cache. Absent: as for `cache_read`.",
        }),
      ),
    },
    { description: "Prices of one model's tokens." },
  ),
  {
    default: {},
    maxProperties: 1000,
    description: "Prices by model ID, all in the same currency, for the metric `token_cost`.",
  },
);
export type TokenPrices = Static<typeof tokenPrices>;
