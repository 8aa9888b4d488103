/** The metrics of all workers as those of one server. */
import { collectDefaultMetrics, Registry } from "prom-client";
import { abortable } from "../abort.ts";
import { keepCounts, renderSum, snapshotOf, type MetricSnapshot } from "../status/metric-snapshot.ts";
import { createScrape, type Scrape } from "../status/scrape.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** A worker that is busy for longer counts with its last values. */
const answerTimeoutMs = 5_000;

export class MetricSum {
  readonly scrape: () => Promise<Scrape> = createScrape(() => this.#render());
  readonly #registry = new Registry();
  readonly #workers = new Set<WorkerProcess>();
  readonly #latest = new Map<WorkerProcess, MetricSnapshot>();
  /** Of workers that have ended: what they had counted at the last scrape, so that no total decreases. */
  #ended: Promise<MetricSnapshot> = Promise.resolve([]);

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
  }

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
    return renderSum([await this.#own(), ...latest, await ended]);
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

  /** This process counts with its CPU time and memory; its event loop and heap would only blur those of the workers. */
  async #own(): Promise<MetricSnapshot> {
    const metrics = await snapshotOf(this.#registry);
    return metrics
      .filter(({ name }) => name.startsWith("process_"))
      .map((metric) => (metric.name === "process_start_time_seconds" ? { ...metric, aggregator: "first" } : metric));
  }
}
