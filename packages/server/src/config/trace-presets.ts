/** Further presets of trace queries: `telemetry.trace_presets` of the configuration file. */
import { Type, type Static } from "typebox";

const attributeConditions = (of: string) =>
  Type.Optional(
    Type.Record(
      Type.String({ minLength: 1 }),
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 100,
        description: "The values that are meant, as text (`true`, `42`); `*` for any value.",
      }),
      { description: `Attributes of ${of} by name, each with its values; all of them must match.` },
    ),
  );

const tracePreset = Type.Object(
  {
    description: Type.Optional(Type.String({ minLength: 1, description: "What the traces are, for people." })),
    attributes: attributeConditions("the span"),
    resource_attributes: attributeConditions("the span's resource"),
    services: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        maxItems: 100,
        description: "Names of services (`service.name`), one of which made the span.",
      }),
    ),
    status: Type.Optional(Type.Enum(["ok", "error"], { description: "The span's status." })),
    min_duration_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "The span took at least this long." }),
    ),
  },
  { description: "Which traces: those with one span for which all of these hold." },
);

export const tracePresets = Type.Record(Type.String({ minLength: 1 }), tracePreset, {
  default: {},
  propertyNames: { pattern: "^[a-z][a-z0-9_]{0,63}$" },
  description: "Further values of `trace` in trace queries, by name: small letters, digits and `_`.",
});
export type TracePresetSettings = Static<typeof tracePreset>;
