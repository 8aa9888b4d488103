/**
 * Which models there are and how a call finds its engine: `models`, `aliases` and `routing` of the
 * configuration file. All of it may change while the server runs.
 */
import { Type, type Static } from "typebox";
import { targetTimeouts } from "./engines/upstream.ts";
import { milliseconds } from "./setting-types.ts";

const modelId = (description: string) => Type.String({ minLength: 1, maxLength: 512, description });

const target = Type.Object(
  {
    engine: Type.String({ minLength: 1, description: "Name of an engine under `engines`." }),
    model: modelId("The model's name at that engine."),
    weight: Type.Number({
      minimum: 0,
      maximum: 1_000_000,
      default: 1,
      description: "Share of the calls, relative to the other targets; 0 takes the target out of service.",
    }),
    max_concurrent: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: "Calls in flight at this target; a further call goes to another target. Absent: no limit.",
      }),
    ),
    timeouts: Type.Optional(
      Type.Object(targetTimeouts, { description: "Time limits of this target, in place of its engine's." }),
    ),
  },
  { description: "One place where the model runs." },
);
export type TargetSettings = Static<typeof target>;

export const retries = Type.Object(
  {
    attempts: Type.Integer({
      minimum: 0,
      maximum: 10,
      default: 2,
      description:
        "Further tries after a failed one, on other targets where there are any; never after the first token.",
    }),
    backoff_ms: milliseconds(200, "Wait before the first further try; it doubles with each, with jitter."),
    max_backoff_ms: milliseconds(5_000, "Longest wait between two tries."),
  },
  { default: {}, description: "Tries after a 429, a 5xx or a failed connection." },
);
export type RetrySettings = Static<typeof retries>;

const model = Type.Object(
  {
    targets: Type.Array(target, { minItems: 1, maxItems: 100, description: "Where the model runs." }),
    fallbacks: Type.Array(modelId("A model under `models`, or an alias of one."), {
      maxItems: 20,
      default: [],
      description: "Models that answer, in this order, when no target of this one can.",
    }),
    retries,
    owned_by: Type.Optional(
      Type.String({ minLength: 1, description: "Shown as `owned_by` by `GET /v1/models`. Absent: the engine's name." }),
    ),
    hidden: Type.Boolean({ default: false, description: "Leave the model out of `GET /v1/models`; it still answers." }),
  },
  { description: "One model; its name is the model ID that callers use." },
);
export type ModelSettings = Static<typeof model>;

export const models = Type.Record(modelId("Model ID."), model, {
  default: {},
  description: "Models by the ID that callers use.",
});

export const aliases = Type.Record(
  modelId("Alias."),
  modelId("A model under `models`, another alias, or `engine/model` for a model that an engine has."),
  {
    default: {},
    description: "Further names of models.",
  },
);

export const routing = Type.Object(
  {
    failure_threshold: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 5,
      description: "Failures of a target within `window_ms` that take it out of service.",
    }),
    window_ms: milliseconds(30_000, "Time over which failures are counted."),
    open_ms: milliseconds(15_000, "Time a target stays out of service before one call tries it again."),
  },
  { default: {}, description: "When a failing target is left alone (circuit breaker)." },
);
export type RoutingSettings = Static<typeof routing>;
