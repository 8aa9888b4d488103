/** Picks the target of a route for the next attempt. */
import type { Capability } from "../api/models.ts";
import type { Target } from "./target.ts";

export interface PickOptions {
  readonly nowMs: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Targets that this call has done with. */
  readonly except: ReadonlySet<Target>;
  /** What the call is for. */
  readonly capability: Capability;
}

/**
 * One of the targets that may take a call now: in service, with a free place, circuit not open. Targets that asked
 * for a pause come last. Among the rest the weights decide by chance, twice, and the less busy of the two is taken:
 * with equal load the shares are the weights, under load no target queues up while another idles
 * (https://www.eecs.harvard.edu/~michaelm/postscripts/handbook2001.pdf).
 */
export function pickTarget(targets: readonly Target[], options: PickOptions): Target | undefined {
  if (targets.length === 1) return isFree(targets[0]!, options) ? targets[0] : undefined;
  const free = targets.filter((target) => isFree(target, options));
  const rested = free.filter((target) => target.state.coolingMs(options.nowMs) === 0);
  const candidates = rested.length > 0 ? rested : free;
  if (candidates.length < 2) return candidates[0];
  const first = draw(candidates, options);
  const second = draw(candidates, options);
  return load(second) < load(first) ? second : first;
}

function isFree(target: Target, { nowMs, except, capability }: PickOptions): boolean {
  return (
    target.weight > 0 &&
    target.state.inFlight < target.maxConcurrent &&
    target.state.circuitOf(capability).admits(nowMs) &&
    !except.has(target)
  );
}

function draw(candidates: readonly Target[], { nowMs, random, capability }: PickOptions): Target {
  const weightOf = ({ state, weight }: Target): number => weight * state.circuitOf(capability).share(nowMs);
  let total = 0;
  for (const target of candidates) total += weightOf(target);
  let point = random() * total;
  for (const target of candidates) {
    point -= weightOf(target);
    if (point < 0) return target;
  }
  return candidates.at(-1)!;
}

function load(target: Target): number {
  return target.state.inFlight / target.weight;
}
