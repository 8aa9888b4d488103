/** Additional presets of trace queries: `telemetry.trace_presets` of the configuration file. */
import { Type, type Static } from "typebox";

const attributeConditions = (of: string) =>
  Type.Optional(
    Type.Record(
      Type.String({ minLength: 1 }),
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 100,
        description: "The values to match, as text (`true`, `42`); `*` matches any value.",
      }),
      { description: `Attributes of ${of} by name, each with its allowed values; all attributes must match.` },
    ),
  );

const tracePreset = Type.Object(
  {
    description: Type.Optional(Type.String({ minLength: 1, description: "Description of the traces, for people." })),
    attributes: attributeConditions("the span"),
    resource_attributes: attributeConditions("the span's resource"),
    services: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        maxItems: 100,
        description: "Service names (`service.name`); one of them must have produced the span.",
      }),
    ),
    status: Type.Optional(Type.Enum(["ok", "error"], { description: "The span's status." })),
    min_duration_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Minimum duration of the span." }),
    ),
  },
  { description: "Selects the traces that have one span to which all of these conditions apply." },
);

export const tracePresets = Type.Record(Type.String({ minLength: 1 }), tracePreset, {
  default: {},
  propertyNames: { pattern: "^[a-z][a-z0-9_]{0,63}$" },
  description: "Additional values of `trace` in trace queries, by name: lower-case letters, digits and `_`.",
});
export type TracePresetSettings = Static<typeof tracePreset>;
