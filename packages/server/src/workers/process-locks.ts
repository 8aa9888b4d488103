/** Locks among the workers of one server: each is held by one worker until it releases it or ends. */
import type { WorkerProcess } from "./worker-process.ts";

export class ProcessLocks {
  readonly #holders = new Map<string, WorkerProcess>();

  /** Whether the worker has the lock now. */
  take(name: string, worker: WorkerProcess): boolean {
    if (this.#holders.has(name) || !worker.isConnected) return false;
    this.#holders.set(name, worker);
    return true;
  }

  release(name: string, worker: WorkerProcess): void {
    if (this.#holders.get(name) === worker) this.#holders.delete(name);
  }

  releaseAll(worker: WorkerProcess): void {
    for (const name of this.#holders.keys()) this.release(name, worker);
  }
}
