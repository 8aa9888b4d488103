/** Further presets of metrics queries and the prices of tokens: `telemetry.metric_presets` and `telemetry.token_prices`. */
import { Type, type Static } from "typebox";

const metricPreset = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      description:
        'PromQL that gives an instant vector. `[range()]` is the time window (or the step of a matrix); a label matched with `"$project_name"`, `"$agent_name"`, `"$agent_class"`, `"$model_key"`, `"$session_id"`, `"$status"` or `"$category"` is matched with that filter of the call, and not at all when the call has none.',
    }),
    description: Type.Optional(Type.String({ minLength: 1, description: "What the metric is, for people." })),
    unit: Type.Optional(Type.String({ minLength: 1, description: "The unit of its values, for people." })),
  },
  { description: "A query with parameters." },
);

export const metricPresets = Type.Record(Type.String({ minLength: 1 }), metricPreset, {
  default: {},
  propertyNames: { pattern: "^[a-z][a-z0-9_]{0,63}$" },
  description: "Further values of `metric` in metrics queries, by name: small letters, digits and `_`.",
});
export type MetricPresetSettings = Static<typeof metricPreset>;

export const tokenPrices = Type.Record(
  Type.String({ minLength: 1 }),
  Type.Object(
    {
      input: Type.Number({ minimum: 0, description: "Price of a million tokens that the model reads." }),
      output: Type.Number({ minimum: 0, description: "Price of a million tokens that the model writes." }),
    },
    { description: "What a model's tokens cost." },
  ),
  {
    default: {},
    maxProperties: 1000,
    description: "Prices by model ID, in any one currency, for the metric `token_cost`.",
  },
);
export type TokenPrices = Static<typeof tokenPrices>;
