/** Runs direct targets in a worker thread, and terminates the thread if an input blocks it forever. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Task, TaskReport, WorkerSetup } from "./direct-worker.ts";
import { Random } from "./random.ts";
import { Tally } from "./tally.ts";
import type { DirectTarget } from "./target.ts";

/** CPU that one input may use. */
const hungCpuMs = 10_000;
/** Longest wait for an input that uses no CPU. */
const stalledMs = 120_000;
const script = new URL("direct-worker.ts", import.meta.url);

export interface DirectOptions {
  readonly seed: number;
  readonly holdMs: number;
}

export class DirectRunner implements AsyncDisposable {
  readonly #options: DirectOptions;
  readonly #progress = new SharedArrayBuffer(4);
  #worker: Worker | undefined;

  constructor(options: DirectOptions) {
    this.#options = options;
  }

  /** Runs inputs from `from` until the time is up or `most` were run. */
  async run(
    target: DirectTarget,
    limits: { readonly from: number; readonly most: number; readonly ms: number },
  ): Promise<Tally> {
    const tally = new Tally(target.name);
    await target.prepare?.();
    this.#worker ??= await this.#start();
    const startMs = Date.now();
    const to = limits.from + limits.most;
    let from = limits.from;
    while (from < to && Date.now() < startMs + limits.ms) {
      const end = Math.min(to, from + 2000);
      from = await this.#task({ target: target.name, from, to: end, untilMs: startMs + limits.ms }, tally, (index) =>
        target.generate(new Random(this.#options.seed, target.name, index)),
      );
    }
    tally.elapsedMs = Date.now() - startMs;
    return tally;
  }

  /** Runs one input. */
  async replay(target: DirectTarget, input: Uint8Array): Promise<Tally> {
    const tally = new Tally(target.name);
    await this.#task({ target: target.name, input }, tally, () => input);
    return tally;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  /** @returns the index of the next input */
  async #task(task: Task, tally: Tally, inputAt: (index: number) => Uint8Array): Promise<number> {
    const worker = (this.#worker ??= await this.#start());
    const from = "input" in task ? 0 : task.from;
    const running = new Int32Array(this.#progress);
    Atomics.store(running, 0, from);
    const fault = (index: number, what: string): void => {
      const isFile = "input" in task;
      tally.findings.push({ target: tally.name, index: isFile ? undefined : index, input: inputAt(index), what });
    };
    return new Promise((resolve) => {
      let watched = { index: -1, cpuMs: 0, sinceMs: 0 };
      const look = setInterval(() => void check(), 500);
      const leave = (next: number): void => {
        clearInterval(look);
        worker.off("error", onError).off("message", onMessage);
        resolve(next);
      };
      const giveUp = (what: string): void => {
        const index = Atomics.load(running, 0);
        fault(index, what);
        tally.inputs += index - from + 1;
        tally.count("hung or crashed");
        this.#worker = undefined;
        leave(index + 1);
        void worker.terminate();
      };
      const check = async (): Promise<void> => {
        const index = Atomics.load(running, 0);
        const usage = await worker.cpuUsage().catch(() => undefined);
        if (usage === undefined || this.#worker !== worker) return;
        const cpuMs = (usage.user + usage.system) / 1000;
        if (index !== watched.index) watched = { index, cpuMs, sinceMs: Date.now() };
        else if (cpuMs - watched.cpuMs > hungCpuMs) giveUp(`did not end within ${hungCpuMs} ms of CPU`);
        else if (Date.now() - watched.sinceMs > stalledMs)
          giveUp(`did not end within ${stalledMs} ms, without using the CPU`);
      };
      const onError = (error: unknown): void =>
        giveUp(`ended the thread: ${error instanceof Error ? error.stack : String(error)}`);
      const onMessage = (report: TaskReport): void => {
        if (report.kind === "fault") return fault(report.index, report.what);
        if (report.kind === "ready") return;
        tally.inputs += report.inputs;
        for (const [outcome, count] of report.outcomes) tally.count(outcome, count);
        tally.time(...report.slowest);
        tally.hold(...report.longestHold);
        leave(from + report.inputs);
      };
      worker.on("error", onError).on("message", onMessage);
      worker.postMessage(task);
    });
  }

  async #start(): Promise<Worker> {
    const setup: WorkerSetup = { ...this.#options, progress: this.#progress };
    const worker = new Worker(script, { workerData: setup, resourceLimits: { maxOldGenerationSizeMb: 2048 } });
    // A running task reports the failure; after the thread has ended, nobody needs it.
    worker.on("error", () => {});
    await once(worker, "message");
    return worker;
  }
}
