/** Finds out that a worker's main thread does not run: it is blocked for good, or the process is stopped. */
import { sleep } from "../abort.ts";
import type { WorkerProcess } from "./worker-process.ts";

const pingIntervalMs = 5_000;
const looksPerSilence = 30;

/**
 * Resolves with true once the worker has not answered a ping for `silenceMs`, and with false once it cannot be reached or the
 * signal fires. Time in which this process did not run either does not count, such as on a machine under heavy load.
 */
export async function becomesSilent(worker: WorkerProcess, silenceMs: number, signal: AbortSignal): Promise<boolean> {
  const lookMs = silenceMs / looksPerSilence;
  while (worker.isConnected && !signal.aborted) {
    await sleep(Math.min(pingIntervalMs, silenceMs), signal);
    const answered = new AbortController();
    const answer = (): void => answered.abort();
    void worker.channel.request("ping", undefined).then(answer, answer);
    const over = AbortSignal.any([answered.signal, signal]);
    for (let looks = 0; !over.aborted;) {
      const beforeMs = performance.now();
      await sleep(lookMs, over);
      if (performance.now() - beforeMs < 2 * lookMs) looks += 1;
      if (looks >= looksPerSilence && !over.aborted) return true;
    }
  }
  return false;
}
