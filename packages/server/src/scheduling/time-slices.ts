/**
 * Gives long work its turns on the main thread: one slice in each turn of the event loop, organizations in rotation, and
 * within an organization the one that has waited longest. However many evaluations run, other requests wait for one slice.
 */
import { RoundRobinQueue } from "./round-robin-queue.ts";

const waiting = new RoundRobinQueue<() => void>();
let isScheduled = false;

/** Whether anybody waits for a turn. */
export function isTimeSliceAwaited(): boolean {
  return waiting.size > 0;
}

/**
 * Resolves when it is the caller's turn.
 * @param group whose work it is: an organization; empty for the server's own
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
  // In the next turn of the event loop: sockets and timers come in between.
  if (isScheduled) setImmediate(grantTimeSlice);
}
