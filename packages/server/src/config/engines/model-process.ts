/** Settings of models that run in separate processes: when a model is loaded, and when it is unloaded. */
import { Type } from "typebox";

const durationMs = (description: string, fallback?: number) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 86_400_000,
      ...(fallback === undefined ? {} : { default: fallback }),
      description,
    }),
  );

export const modelProcessSettings = {
  preload: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Load the model when the server starts instead of at the first call.",
    }),
  ),
  start_timeout_ms: durationMs("Longest time for loading the model.", 120_000),
  idle_unload_ms: durationMs("Unload the model and free its memory after this time without calls. Absent: never."),
};
