/** The metrics of all workers as those of one server. */
import { abortable } from "../abort.ts";
import { keepCounts, renderSum, type MetricSnapshot } from "../status/metric-snapshot.ts";
import { createScrape, type Scrape } from "../status/scrape.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** A worker that is busy for longer counts with its last values. */
const answerTimeoutMs = 5_000;

export class MetricSum {
  readonly scrape: () => Promise<Scrape> = createScrape(() => this.#render());
  readonly #workers = new Set<WorkerProcess>();
  readonly #latest = new Map<WorkerProcess, MetricSnapshot>();
  /** Of workers that have ended: what they had counted at the last scrape, so that no total decreases. */
  #ended: Promise<MetricSnapshot> = Promise.resolve([]);

  addWorker(worker: WorkerProcess): void {
    this.#workers.add(worker);
  }

  removeWorker(worker: WorkerProcess): void {
    this.#workers.delete(worker);
    const last = this.#latest.get(worker);
    this.#latest.delete(worker);
    if (last !== undefined) this.#ended = this.#ended.then((before) => keepCounts([before, last]));
  }

  async #render(): Promise<Scrape> {
    await Promise.all([...this.#workers].map((worker) => this.#ask(worker)));
    const [ended, latest] = [this.#ended, [...this.#latest.values()]];
    return renderSum([processMetrics(), ...latest, await ended]);
  }

  async #ask(worker: WorkerProcess): Promise<void> {
    try {
      const answer = worker.channel.request("snapshot", undefined);
      const snapshot = await abortable(answer, AbortSignal.timeout(answerTimeoutMs));
      if (this.#workers.has(worker)) this.#latest.set(worker, snapshot);
    } catch {
      // It is busy or has ended; its last values stay.
    }
  }
}

/**
 * The primary's CPU time and memory, under the names of prom-client, and the start of the server. It collects nothing else: an
 * event loop and a heap without requests would only blur those of the workers.
 */
function processMetrics(): MetricSnapshot {
  const { user, system } = process.cpuUsage();
  const metric = (name: string, type: string, help: string, value: number) => ({
    name,
    help,
    type,
    aggregator: name === startTime ? "first" : "sum",
    values: [{ labels: {}, value }],
  });
  return [
    metric("process_cpu_user_seconds_total", "counter", "Total user CPU time spent in seconds.", user / 1e6),
    metric("process_cpu_system_seconds_total", "counter", "Total system CPU time spent in seconds.", system / 1e6),
    metric(
      "process_cpu_seconds_total",
      "counter",
      "Total user and system CPU time spent in seconds.",
      (user + system) / 1e6,
    ),
    metric("process_resident_memory_bytes", "gauge", "Resident memory size in bytes.", process.memoryUsage.rss()),
    metric(startTime, "gauge", "Start time of the process since unix epoch in seconds.", startSeconds),
  ];
}

const startTime = "process_start_time_seconds";
const startSeconds = Math.round(performance.timeOrigin / 1000);
