/** How long work blocks the event loop: CPU time of the main thread between two turns, so other processes do not count. */
import { setImmediate } from "node:timers/promises";

function cpuMs(): number {
  const { system, user } = process.threadCpuUsage();
  return (system + user) / 1000;
}

/** The longest hold, in milliseconds of CPU, while the work runs; an error of the work is passed on. */
export async function longestHold<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly holdMs: number; readonly outcome: Result | Error }> {
  const done = new AbortController();
  let holdMs = 0;
  const watch = async (): Promise<void> => {
    for (let before = cpuMs(); !done.signal.aborted; before = cpuMs()) {
      await setImmediate();
      holdMs = Math.max(holdMs, cpuMs() - before);
    }
  };
  const watching = watch();
  const outcome = await work().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  done.abort();
  await watching;
  return { holdMs, outcome };
}
