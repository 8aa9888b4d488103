/**
 * Models, aliases and circuit breaking: `models`, `aliases` and `routing` of the configuration file. All of them
 * take effect without a restart.
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
      description: "Share of the calls, relative to the other targets; 0 sends no calls to the target.",
    }),
    max_concurrent: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description:
          "Maximum number of calls in flight at this target; more calls go to another target. Absent: no limit.",
      }),
    ),
    timeouts: Type.Optional(
      Type.Object(targetTimeouts, { description: "Timeouts of this target, instead of its engine's." }),
    ),
  },
  { description: "One engine and model that serves this model." },
);
export type TargetSettings = Static<typeof target>;

export const retries = Type.Object(
  {
    attempts: Type.Integer({
      minimum: 0,
      maximum: 10,
      default: 2,
      description:
        "Maximum number of retries after a failed attempt, on other targets where possible. A stream is never retried after its first token.",
    }),
    backoff_ms: milliseconds(200, "Wait before the first retry; it doubles with each retry, with jitter."),
    max_backoff_ms: milliseconds(5_000, "Longest wait between two attempts."),
  },
  { default: {}, description: "Retries after a 429, a 5xx or a failed connection." },
);
export type RetrySettings = Static<typeof retries>;

const model = Type.Object(
  {
    targets: Type.Array(target, {
      minItems: 1,
      maxItems: 100,
      description: "The engines and models that serve this model.",
    }),
    fallbacks: Type.Array(modelId("A model under `models`, or an alias of one."), {
      maxItems: 20,
      default: [],
      description: "Models to try, in this order, when no target of this model is available.",
    }),
    retries,
    owned_by: Type.Optional(
      Type.String({ minLength: 1, description: "Value of `owned_by` in `GET /v1/models`. Absent: the engine's name." }),
    ),
    hidden: Type.Boolean({
      default: false,
      description: "Omit the model from `GET /v1/models`; it can still be called.",
    }),
  },
  { description: "One model; its name is the model ID that callers use." },
);
export type ModelSettings = Static<typeof model>;

export const models = Type.Record(modelId("Model ID."), model, {
  default: {},
  description: "Models, by the ID that callers use.",
});

export const aliases = Type.Record(
  modelId("Alias."),
  modelId("A model under `models`, another alias, or `engine/model` for a model of an engine."),
  {
    default: {},
    description: "Additional names of models.",
  },
);

export const routing = Type.Object(
  {
    failure_threshold: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 5,
      description: "Number of failures within `window_ms` that take a target out of service.",
    }),
    window_ms: milliseconds(30_000, "Period over which failures are counted."),
    open_ms: milliseconds(15_000, "Time that a target stays out of service before one call tries it again."),
  },
  { default: {}, description: "Circuit breaker: when a failing target is taken out of service." },
);
export type RoutingSettings = Static<typeof routing>;
