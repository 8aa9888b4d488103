/** Measures event loop delay, and logs which request blocked the event loop for long. */
import type { Logger } from "../logger.ts";
import { takeStepReport, threadCpuMs } from "./main-thread-time.ts";

/** Rare enough that an idle server stays idle. */
const intervalMs = 100;
/** Blocking with more CPU time than this is logged. */
export const warnedHoldMs = 200;

export interface EventLoopWatch {
  stop(): void;
}

/** @param observe called with each delay, 10 times a second */
export function watchEventLoop({
  logger,
  observe,
}: {
  readonly logger: Logger;
  readonly observe: (delayMs: number) => void;
}): EventLoopWatch {
  let lastMs = performance.now();
  let lastCpuMs = threadCpuMs();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const cpuMs = threadCpuMs();
    const delayMs = Math.max(0, nowMs - lastMs - intervalMs);
    const usedMs = cpuMs - lastCpuMs;
    lastMs = nowMs;
    lastCpuMs = cpuMs;
    const { longest, last } = takeStepReport(cpuMs);
    observe(delayMs);
    // A hold that began within the interval delays the timer by less. Late without CPU time: other processes used the CPU,
    // or the machine slept.
    if (delayMs <= warnedHoldMs - intervalMs || usedMs <= warnedHoldMs) return;
    const culprit = longest ?? last;
    const hold = { hold_ms: Math.round(usedMs), ...(longest === undefined ? {} : { step_ms: Math.round(longest.ms) }) };
    if (culprit === undefined)
      return logger.warn(hold, "the event loop was blocked, but not by a measured step of a request");
    const { cost, step } = culprit;
    const { operation, requestId, organizationId } = cost;
    logger.warn(
      { ...hold, operation, step, request_id: requestId, organization_id: organizationId },
      "the event loop was blocked; the request with the longest step is listed",
    );
  }, intervalMs).unref();
  return { stop: () => clearInterval(timer) };
}
