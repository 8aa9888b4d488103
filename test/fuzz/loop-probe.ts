/** Measures how long a thread's event loop is blocked, in CPU time: other processes do not count. */
import { PerformanceObserver } from "node:perf_hooks";

/** The loop was busy for this long between two of its turns. Times are milliseconds since 1970. */
export interface Hold {
  readonly startMs: number;
  readonly endMs: number;
  /** Without garbage collection. */
  readonly cpuMs: number;
}

interface ProbeOptions {
  readonly boundMs: number;
  onHold(hold: Hold): void;
}

const intervalMs = 2;
const nowMs = (): number => performance.timeOrigin + performance.now();

export class LoopProbe {
  readonly #options: ProbeOptions | undefined;
  #cpu = process.threadCpuUsage();
  #lastMs = nowMs();
  #longestMs = 0;
  #collections: { readonly startMs: number; readonly endMs: number }[] = [];

  /** @param options called with every hold above a bound; if absent, only `take` is useful */
  constructor(options?: ProbeOptions) {
    this.#options = options;
    const observer = new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) {
        const startMs = performance.timeOrigin + startTime;
        this.#collections.push({ startMs, endMs: startMs + duration });
      }
      this.#collections = this.#collections.slice(-200);
    });
    observer.observe({ entryTypes: ["gc"] });
    setInterval(() => this.#tick(), intervalMs).unref();
  }

  /** CPU milliseconds of the longest hold since the last call; includes garbage collection. */
  take(): number {
    this.#tick();
    const longest = this.#longestMs;
    this.#longestMs = 0;
    return longest;
  }

  #tick(): void {
    const { user, system } = process.threadCpuUsage(this.#cpu);
    const cpuMs = (user + system) / 1000;
    const [startMs, endMs] = [this.#lastMs, nowMs()];
    this.#cpu = process.threadCpuUsage();
    this.#lastMs = endMs;
    if (cpuMs > this.#longestMs) this.#longestMs = cpuMs;
    if (this.#options === undefined || cpuMs <= this.#options.boundMs) return;
    // Collections are reported two turns later.
    setImmediate(() => setImmediate(() => setImmediate(() => this.#report({ startMs, endMs, cpuMs }))));
  }

  #report({ startMs, endMs, cpuMs }: Hold): void {
    const collecting = this.#collections
      .map((each) => Math.min(each.endMs, endMs) - Math.max(each.startMs, startMs))
      .reduce((sum, overlap) => sum + Math.max(0, overlap), 0);
    const ownMs = cpuMs - collecting;
    if (this.#options !== undefined && ownMs > this.#options.boundMs)
      this.#options.onHold({ startMs, endMs, cpuMs: ownMs });
  }
}
