/**
 * Schedules long computations on the main thread: one time slice per iteration of the event loop, round robin between
 * organizations. However many computations run, other requests wait for one slice.
 */
import { RoundRobinQueue } from "./round-robin-queue.ts";

const waiting = new RoundRobinQueue<() => void>();
let isScheduled = false;

/** Whether a computation waits for its next slice. */
export function isTimeSliceAwaited(): boolean {
  return waiting.size > 0;
}

/**
 * Resolves when the caller's time slice begins.
 * @param group the organization that the computation is for; empty for the server's own
 */
export function nextTimeSlice(group: string): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(group, resolve);
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(grantTimeSlice);
  });
}

function grantTimeSlice(): void {
  waiting.next()?.item();
  isScheduled = waiting.size > 0;
  // In the next iteration, so that sockets and timers are served in between.
  if (isScheduled) setImmediate(grantTimeSlice);
}
