/**
 * Attributes the main thread's time to requests, step by step. A step is code that runs without a pause, so its time is
 * the difference of two looks at a clock. Reading the CPU clock costs ten times as much as the wall clock, so only steps
 * of more than a millisecond are compared with it; docs/adr/0219-fair-turns.md has the numbers.
 */
import { currentRequestCost, type RequestCost } from "./request-cost.ts";

/** What held the main thread longest, without a pause. */
export interface LongestStep {
  readonly cost: RequestCost;
  readonly step: string;
  readonly ms: number;
}

const comparedFromMs = 1;

let accountedUntilMs = 0;
/** How many steps run, one within the other. */
let depth = 0;
let lastCpuMs = 0;
let longest: LongestStep | undefined;
let last: { readonly cost: RequestCost; readonly step: string } | undefined;

/** CPU time of the main thread since it began, in milliseconds. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Runs one step of the current request. Steps may contain others; each moment counts once. */
export function measureStep<Result>(step: string, run: () => Result): Result {
  const cost = currentRequestCost();
  if (cost === undefined) return run();
  beginStep();
  depth += 1;
  try {
    return run();
  } finally {
    depth -= 1;
    recordStep(cost, step);
  }
}

/** What happened before now is nobody's, unless a step runs already. @returns the moment, as `performance.now()` gives it */
export function beginStep(): number {
  const nowMs = performance.now();
  if (depth === 0) accountedUntilMs = nowMs;
  return nowMs;
}

/** Counts the time since the last moment that was counted as the work's. @returns the moment, as `performance.now()` gives it */
export function recordStep(cost: RequestCost, step: string): number {
  const nowMs = performance.now();
  let ms = nowMs - accountedUntilMs;
  accountedUntilMs = nowMs;
  if (ms > comparedFromMs) {
    // Time in which the thread waited, or in which another process had its processor, costs the server nothing.
    const cpuMs = threadCpuMs();
    ms = Math.min(ms, cpuMs - lastCpuMs);
    lastCpuMs = cpuMs;
    if (longest === undefined || ms > longest.ms) longest = { cost, step, ms };
  }
  last = { cost, step };
  cost.addMainThread(ms);
  return nowMs;
}

/** What happened since the last look: the longest step, and the one that was measured last. Then forgets it. */
export function takeStepReport(cpuMs: number): {
  readonly longest: LongestStep | undefined;
  readonly last: Omit<LongestStep, "ms"> | undefined;
} {
  const taken = { longest, last };
  longest = undefined;
  last = undefined;
  lastCpuMs = cpuMs;
  return taken;
}
