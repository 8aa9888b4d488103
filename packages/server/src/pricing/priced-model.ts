/** Which of a call's attempts is priced, and by which names. */
import type { PricedModel } from "./prices.ts";

/** The parts of an attempt that matter here. */
type Attempted = Pick<PricedModel, "engine" | "model" | "modelId">;

/**
 * What the last of the attempts called.
 * @param requested the model ID as the caller wrote it; it has its own price if no fallback was tried
 */
export function lastModel(attempts: readonly Attempted[], requested: string): PricedModel {
  const last = attempts.at(-1);
  if (last === undefined) return { engine: "", model: requested, modelId: requested };
  const { engine, model, modelId } = last;
  return { engine, model, modelId, requested: attempts[0]!.modelId === modelId ? requested : undefined };
}
