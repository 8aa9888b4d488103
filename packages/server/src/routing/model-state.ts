/** Describes whether a model can answer now: its capabilities, its engine, and why it cannot. */
import { capabilities, type Capability, type ModelState } from "../api/models.ts";
import type { ModelRoute } from "./model-route.ts";
import type { Target } from "./target.ts";

export interface ModelStatus {
  /** What it may be called for. */
  readonly capabilities: readonly Capability[];
  /** Of its first target. */
  readonly engine: string;
  readonly state: ModelState;
  /** Why it is unavailable; undefined otherwise. */
  readonly reason: string | undefined;
}

type State = Pick<ModelStatus, "state" | "reason">;

/** The best state of its targets, since a call goes to one that answers. */
export function statusOf({ targets }: ModelRoute): ModelStatus {
  const states = targets.map(stateOf);
  const best =
    states.find(({ state }) => state === "ready") ?? states.find(({ state }) => state === "not_loaded") ?? states[0]!;
  return {
    capabilities: capabilities.filter((capability) => targets.some((target) => target.listedFor.includes(capability))),
    engine: targets[0]!.engine,
    ...best,
  };
}

function stateOf(target: Target): State {
  const { circuit, lastFailure } = target.state;
  const problem = target.problem();
  if (problem !== undefined) return { state: "unavailable", reason: problem.message };
  const loaded = target.isLoaded();
  if (lastFailure !== undefined && (circuit.state !== "closed" || loaded === false))
    return { state: "unavailable", reason: lastFailure.message };
  return { state: loaded === false ? "not_loaded" : "ready", reason: undefined };
}
