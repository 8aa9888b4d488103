/**
 * Attributes the main thread's time to requests, step by step. A step is synchronous code, so its time is the difference
 * of two clock readings. Reading the CPU clock costs ten times as much as the wall clock, so only steps of more than a
 * millisecond are checked against it.
 * docs/adr/0219-fair-turns.md
 */
import { currentRequestCost, type RequestCost } from "./request-cost.ts";

/** The step that blocked the main thread longest. */
export interface LongestStep {
  readonly cost: RequestCost;
  readonly step: string;
  readonly ms: number;
}

const comparedFromMs = 1;

let accountedUntilMs = 0;
/** Number of nested steps that are running. */
let depth = 0;
let lastCpuMs = 0;
let longest: LongestStep | undefined;
let last: { readonly cost: RequestCost; readonly step: string } | undefined;

/** CPU time of the main thread since its start, in milliseconds. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Runs one step of the current request. Steps may be nested; time counts once. */
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

/** Starts attributing time now, unless a step is already running. @returns `performance.now()` */
export function beginStep(): number {
  const nowMs = performance.now();
  if (depth === 0) accountedUntilMs = nowMs;
  return nowMs;
}

/** Attributes the time since the last record to the request. @returns `performance.now()` */
export function recordStep(cost: RequestCost, step: string): number {
  const nowMs = performance.now();
  let ms = nowMs - accountedUntilMs;
  accountedUntilMs = nowMs;
  if (ms > comparedFromMs) {
    // Time in which the thread waited or was preempted is not its cost.
    const cpuMs = threadCpuMs();
    ms = Math.min(ms, cpuMs - lastCpuMs);
    lastCpuMs = cpuMs;
    if (longest === undefined || ms > longest.ms) longest = { cost, step, ms };
  }
  last = { cost, step };
  cost.addMainThread(ms);
  return nowMs;
}

/** Returns the longest and the last step since the previous report, and resets both. */
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
