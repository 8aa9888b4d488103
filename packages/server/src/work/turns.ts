/**
 * Gives long work its turns on the main thread: one slice in each turn of the event loop, organizations in rotation, and
 * within an organization the one that has waited longest. However many evaluations run, other requests wait for one slice.
 */
const waiting = new Map<string, (() => void)[]>();
let isScheduled = false;

/** Whether anybody waits for a turn. */
export function areTurnsAwaited(): boolean {
  return waiting.size > 0;
}

/**
 * Resolves when it is the caller's turn.
 * @param group whose work it is: an organization; empty for the server's own
 */
export function nextTurn(group: string): Promise<void> {
  return new Promise((resolve) => {
    const inGroup = waiting.get(group);
    if (inGroup === undefined) waiting.set(group, [resolve]);
    else inGroup.push(resolve);
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  for (const [group, inGroup] of waiting) {
    const resolve = inGroup.shift()!;
    // To the end of the rotation.
    waiting.delete(group);
    if (inGroup.length > 0) waiting.set(group, inGroup);
    resolve();
    break;
  }
  isScheduled = waiting.size > 0;
  // In the next turn of the event loop: sockets and timers come in between.
  if (isScheduled) setImmediate(giveTurn);
}
