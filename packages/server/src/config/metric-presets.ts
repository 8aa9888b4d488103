/** Additional presets of metrics queries: `telemetry.metric_presets`. */
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
