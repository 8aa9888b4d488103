/** The operations that show an operator where the calls of models go, and how the engines do. */
import { Type } from "typebox";
import { capabilities, modelStates } from "./models.ts";
import { operation, type Operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const nullableInteger = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });
const errorCode = Type.String({ description: "Code of the error, as in error responses." });

const lastError = Type.Object(
  {
    code: errorCode,
    message: Type.String({ description: "Message of the error." }),
    at: Type.Integer({ description: "When the call failed, UNIX seconds." }),
  },
  { description: "A failed call." },
);

const recentCalls = Type.Object(
  {
    window_seconds: Type.Integer({ description: "Length of the window in seconds." }),
    calls: Type.Integer({ description: "Number of attempts, without those that the caller cancelled." }),
    errors: Type.Array(
      Type.Object(
        { code: errorCode, count: Type.Integer({ description: "Number of attempts that failed with it." }) },
        { description: "A kind of error." },
      ),
      { description: "Failed attempts by code, most frequent first." },
    ),
    latency_ms: Type.Union(
      [
        Type.Object({
          p50: Type.Number({ description: "Median in milliseconds." }),
          p95: Type.Number({ description: "95th percentile in milliseconds." }),
        }),
        Type.Null(),
      ],
      {
        description:
          "Time until the response, or until the first chunk of a stream, within 5 %; null if there was none in the window.",
      },
    ),
  },
  { description: "Attempts at the target that this server made recently, for all organizations." },
);

const target = Type.Object(
  {
    engine: Type.String({ description: "Name of the engine." }),
    model: Type.String({ description: "The model's name at the engine." }),
    weight: Type.Number({ description: "Share of the calls, relative to the other targets." }),
    share: Type.Number({
      description: "Fraction of its weight that the target gets: less than 1 for a while after it was out of service.",
    }),
    max_concurrent: nullableInteger("Maximum number of calls in flight; null if there is no limit."),
    calls_in_flight: Type.Integer({ description: "Calls in flight, from all models that lead to the target." }),
    circuit: Type.Enum(["closed", "open", "half_open"], {
      description:
        "`closed`: in service; `open`: out of service after repeated failures; `half_open`: one call is probing it.",
    }),
    retry_at: nullableInteger("When a call may probe a target that is out of service, UNIX seconds; otherwise null."),
    paused_until: nullableInteger("End of the pause that the engine requested (`Retry-After`), UNIX seconds, or null."),
    last_error: Type.Union([lastError, Type.Null()], {
      description:
        "The newest failure of the engine, kept after later successes; null if there was none. Errors in callers' requests are only counted.",
    }),
    recent: recentCalls,
  },
  { description: "An engine's model that calls may go to." },
);

const routedModel = Type.Object(
  {
    object: Type.Literal("routed_model", { description: "Always `routed_model`." }),
    id: Type.String({ description: "Model ID." }),
    aliases: Type.Array(Type.String(), { description: "Other IDs of the model." }),
    configured: Type.Boolean({
      description: "Whether the model is configured under `models`; otherwise it was discovered.",
    }),
    hidden: Type.Boolean({ description: "Whether `GET /v1/models` omits the model." }),
    capabilities: Type.Array(Type.Enum([...capabilities]), { description: "What the model may be called for." }),
    state: Type.Enum([...modelStates], { description: "As in `GET /v1/models`: the best state of the targets." }),
    state_reason: Type.Union([Type.String(), Type.Null()], {
      description: "Why the model is unavailable; otherwise null.",
    }),
    targets: Type.Array(target, { description: "The engines and models that serve it." }),
    fallbacks: Type.Array(Type.String(), { description: "IDs of the models that are tried next, in this order." }),
    retries: Type.Object(
      {
        attempts: Type.Integer({ description: "Maximum number of retries." }),
        backoff_ms: Type.Integer({ description: "Wait before the first retry, milliseconds." }),
        max_backoff_ms: Type.Integer({ description: "Longest wait between two attempts, milliseconds." }),
      },
      { description: "Retries after a failed attempt." },
    ),
  },
  { description: "A model and where its calls go." },
);
export const RoutedModelObject = schema(routedModel);
export type RoutedModelObject = TypeOf<typeof RoutedModelObject>;

const RoutedModelList = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(routedModel, { description: "The models, hidden ones included, sorted by ID." }),
    },
    { description: "Models and where their calls go." },
  ),
);

const engine = Type.Object(
  {
    object: Type.Literal("engine", { description: "Always `engine`." }),
    name: Type.String({ description: "Name of the engine." }),
    type: Type.String({ description: "Type of the engine." }),
    configured: Type.Boolean({ description: "Whether it is configured under `engines`; otherwise it was discovered." }),
    models: nullableInteger("Number of models that it listed; null if it has not listed any yet."),
    error: Type.Union([Type.Omit(lastError, ["at"]), Type.Null()], {
      description: "Why the engine did not list its models at the last refresh; otherwise null.",
    }),
  },
  { description: "An engine." },
);
export const EngineObject = schema(engine);
export type EngineObject = TypeOf<typeof EngineObject>;

const EngineList = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(engine, { description: "The engines, sorted by name." }),
    },
    { description: "Engines." },
  ),
);

const shared = {
  tag: "Administration",
  permission: "admin",
  operator: true,
  method: "GET",
  description: "Requires an operator key. State and counts are those of the responding server.",
} as const;

export const listRoutedModels = operation({
  ...shared,
  id: "listRoutedModels",
  path: "/admin/v1/models",
  summary: "List models with their targets, circuit states and recent errors",
  answer: { type: "application/json", schema: RoutedModelList, description: "The models." },
});

export const getRoutedModel = operation({
  ...shared,
  id: "getRoutedModel",
  path: "/admin/v1/models/{+id}",
  summary: "Show a model with its targets, circuit states and recent errors",
  pathParameters: { id: "Model ID or alias; slashes may be sent as they are or as `%2F`." },
  answer: {
    type: "application/json",
    schema: RoutedModelObject,
    description: "The model; for an alias, the model behind it.",
  },
});

export const listEngines = operation({
  ...shared,
  id: "listEngines",
  path: "/admin/v1/engines",
  summary: "List engines and whether they respond",
  answer: { type: "application/json", schema: EngineList, description: "The engines." },
});

export const modelAdminOperations: readonly Operation[] = [listRoutedModels, getRoutedModel, listEngines];
