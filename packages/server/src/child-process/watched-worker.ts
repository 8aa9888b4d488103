/**
 * Runs work on untrusted input in a worker thread that is terminated if it uses too much memory, or CPU time without
 * progress. Only CPU time counts, so a slow machine never ends work that progresses.
 */
import { Worker, type Transferable } from "node:worker_threads";
import { compileCacheEnvironment } from "./compile-cache.ts";

export interface WorkerLimits {
  /** CPU time that work may use without progress. */
  readonly stallCpuMs: number;
  /** JavaScript heap at each check. */
  readonly heapMiB: number;
  /** Memory outside the heap at each check: array buffers and WebAssembly. */
  readonly buffersMiB: number;
}

/**
 * Why a worker ended: a limit, or `crashed` for any other error or exit. A thread that exits because its event loop is empty is
 * `stalled` as well.
 */
export type WorkerEnd = { readonly reason: "stalled" | "memory" | "crashed"; readonly error?: unknown };

export interface WorkerEvents {
  onMessage(message: unknown): void;
  /** Called once when the thread has ended, but not after `terminate`. */
  onEnd(end: WorkerEnd): void;
}

/**
 * How much V8 lets the heap exceed its limit until the next check. At V8's own limit the thread ends with
 * ERR_WORKER_OUT_OF_MEMORY, but some allocations that fail end the process.
 */
const heapReserveMiB = 512;
/** How often a busy worker is checked. */
const lookEveryMs = 200;
/** A thread that does not even report its CPU time for this long is stuck in native code. */
const unresponsiveMs = 60_000;

export class WatchedWorker {
  readonly #worker: Worker;
  readonly #limits: WorkerLimits;
  readonly #events: WorkerEvents;
  #over = false;
  #timer: NodeJS.Timeout | undefined;
  #watch: Watch | undefined;

  /** @param workerData what the script finds as `workerData` */
  constructor(script: URL, limits: WorkerLimits, events: WorkerEvents, workerData?: unknown) {
    this.#limits = limits;
    this.#events = events;
    this.#worker = new Worker(script, {
      workerData,
      // It needs none of the server's secrets.
      env: compileCacheEnvironment(),
      // Its output is not logged. It stays buffered, because reading it would keep the process alive; scripts must print little.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMiB + heapReserveMiB },
    });
    this.#worker.unref();
    this.#worker.on("message", (message) => {
      if (!this.#over) events.onMessage(message);
    });
    this.#worker.on("error", (error) => {
      const isMemory = (error as NodeJS.ErrnoException | null)?.code === "ERR_WORKER_OUT_OF_MEMORY";
      this.#end({ reason: isMemory ? "memory" : "crashed", error });
    });
    this.#worker.on("exit", (code) => this.#end({ reason: code === 0 ? "stalled" : "crashed" }));
  }

  post(message: unknown, transfer: readonly Transferable[] = []): void {
    if (!this.#over) this.#worker.postMessage(message, transfer);
  }

  /**
   * Begins to watch. Meanwhile the worker keeps the process alive.
   * @param earnedMs the CPU time that the progress so far justifies; it only grows
   */
  watch(earnedMs: () => number): void {
    this.unwatch();
    if (this.#over) return;
    this.#worker.ref();
    this.#watch = { earnedMs, lastEarnedMs: earnedMs(), lastCpuMs: undefined, leftMs: this.#limits.stallCpuMs };
    this.#timer = setInterval(() => void this.#look(), lookEveryMs);
    void this.#look();
  }

  unwatch(): void {
    clearInterval(this.#timer);
    this.#watch = undefined;
    this.#worker.unref();
  }

  async terminate(): Promise<void> {
    this.#over = true;
    this.unwatch();
    await this.#worker.terminate();
  }

  /** Node handles both requests inside the thread, between any two steps of JavaScript or WebAssembly. */
  async #look(): Promise<void> {
    const watch = this.#watch;
    if (watch === undefined) return;
    const nowMs = performance.now();
    if (watch.lookingSinceMs !== undefined) {
      if (nowMs - watch.lookingSinceMs > unresponsiveMs) this.#kill("stalled");
      return;
    }
    watch.lookingSinceMs = nowMs;
    try {
      const [cpu, heap] = await Promise.all([this.#worker.cpuUsage(), this.#worker.getHeapStatistics()]);
      if (watch !== this.#watch) return;
      const { heapMiB, buffersMiB, stallCpuMs } = this.#limits;
      const needsMuch = heap.used_heap_size > heapMiB * 2 ** 20 || heap.external_memory > buffersMiB * 2 ** 20;
      if (needsMuch) this.#kill("memory");
      else if (isStalled(watch, (cpu.user + cpu.system) / 1_000, stallCpuMs)) this.#kill("stalled");
    } catch {
      // It ended during the check; its end event has the reason.
    } finally {
      watch.lookingSinceMs = undefined;
    }
  }

  #kill(reason: WorkerEnd["reason"]): void {
    this.#end({ reason });
    void this.#worker.terminate();
  }

  #end(end: WorkerEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.unwatch();
    this.#events.onEnd(end);
  }
}

interface Watch {
  readonly earnedMs: () => number;
  lastEarnedMs: number;
  lastCpuMs: number | undefined;
  /** Remaining CPU time: progress adds to it, up to the limit; use subtracts from it. */
  leftMs: number;
  lookingSinceMs?: number | undefined;
}

function isStalled(watch: Watch, cpuMs: number, limitMs: number): boolean {
  const earnedMs = watch.earnedMs();
  const usedMs = cpuMs - (watch.lastCpuMs ?? cpuMs);
  watch.leftMs = Math.min(limitMs, watch.leftMs + earnedMs - watch.lastEarnedMs - usedMs);
  watch.lastEarnedMs = earnedMs;
  watch.lastCpuMs = cpuMs;
  return watch.leftMs < 0;
}
