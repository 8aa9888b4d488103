/** What calls of a model may go to: the targets of its route, and those of its fallbacks. */
import type { ModelRoute } from "./model-route.ts";

interface CallTarget {
  readonly engine: string;
  /** The model's name at the engine. */
  readonly model: string;
  readonly modelId: string;
  /** As the caller wrote it; absent where that is another model. */
  readonly requested?: string;
}

export interface CallTargets {
  /** The model of an alias, else the ID itself. */
  readonly root: string;
  /** Empty for an unknown model. */
  readonly targets: readonly CallTarget[];
}

export function callTargets(requested: string, root: string, route: ModelRoute | undefined): CallTargets {
  if (route === undefined) return { root, targets: [] };
  const own = route.targets.map(({ engine, model }) => ({ engine, model, modelId: route.id, requested }));
  const others = route.fallbacks.flatMap((fallback) =>
    fallback.targets.map(({ engine, model }) => ({ engine, model, modelId: fallback.id })),
  );
  return { root, targets: [...own, ...others] };
}
