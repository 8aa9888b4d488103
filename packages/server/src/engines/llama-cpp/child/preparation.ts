/**
 * Prepares calls in a worker thread: renders the chat template, turns schemas into grammars. Organizations take turns.
 * A call that takes too much CPU time or memory fails, and the thread is replaced.
 */
import { Worker } from "node:worker_threads";
import { AppError } from "../../../errors.ts";
import { FairQueue } from "../../../scheduling/fair-queue.ts";
import { inputLimit } from "../../../input-limits.ts";
import { siblingScript } from "../../../child-process/sibling-script.ts";
import { restoreGrammar, type FlatGrammar } from "../grammar/flat-grammar.ts";
import type { PromptLimit } from "../prompt-limit.ts";
import type { Generation, WireError } from "../protocol.ts";
import type { AnswerShape } from "./answer-shape.ts";
import type { TemplateSource } from "./chat-template.ts";

export const maximumGrammarNodes = inputLimit({
  area: "Chat completions",
  bounds: "Grammar nodes that the schemas and tools of a call need, for llama.cpp models",
  value: 200_000,
  error: "invalid_request",
});
const maximumCpuMs = inputLimit({
  area: "Chat completions",
  bounds:
    "CPU time to render the chat template and to convert the schemas of a call to a grammar, for llama.cpp models",
  value: 2_000,
  unit: "ms",
  error: "invalid_request",
});
/** Memory of the thread. */
const maximumHeapBytes = 256 * 2 ** 20;
/** V8's own limit, far above: where a thread reaches it between two checks, V8 may end the whole process. */
const v8HeapLimitMiB = 1_024;
/** How often the thread's CPU time and memory are checked. */
const watchMs = 50;

export interface PreparationSetup {
  readonly source: TemplateSource;
  readonly limit: PromptLimit;
}

export interface ToPreparation {
  readonly generation: Generation;
}

type FlatShape = Omit<AnswerShape, "fromStart" | "fromTrigger"> & {
  readonly fromStart: FlatGrammar | undefined;
  readonly fromTrigger: FlatGrammar | undefined;
};

export type FromPreparation =
  | { readonly prompt: string; readonly shape: FlatShape }
  /** `fault`: the log text of an error that the caller did not cause. */
  | { readonly error: WireError; readonly fault: string | undefined };

export interface PreparedCall {
  /** Callers' text that spells a control token is marked in it. */
  readonly prompt: string;
  readonly shape: AnswerShape;
}

export class Preparation {
  readonly #setup: PreparationSetup;
  readonly #report: (message: string) => void;
  // The model's own limit on calls bounds how many wait.
  readonly #queue = new FairQueue({ places: 1, maxWaiting: Infinity, what: "The model" });
  #worker: Worker | undefined;

  constructor(setup: PreparationSetup, report: (message: string) => void) {
    this.#setup = setup;
    this.#report = report;
    this.#worker = this.#start();
  }

  /** @throws AppError; the signal's reason */
  async prepare(generation: Generation, signal: AbortSignal): Promise<PreparedCall> {
    const leave = await this.#queue.enter(generation.group, signal);
    try {
      const answer = await this.#ask({ generation });
      if ("error" in answer) {
        if (answer.fault !== undefined) this.#report(answer.fault);
        throw new AppError(answer.error.code, answer.error.message, { param: answer.error.param });
      }
      const { prompt, shape } = answer;
      const restore = (flat: FlatGrammar | undefined) => (flat === undefined ? undefined : restoreGrammar(flat));
      return {
        prompt,
        shape: { ...shape, fromStart: restore(shape.fromStart), fromTrigger: restore(shape.fromTrigger) },
      };
    } finally {
      leave();
    }
  }

  async #ask(message: ToPreparation): Promise<FromPreparation> {
    const worker = (this.#worker ??= this.#start());
    const { promise, resolve, reject } = Promise.withResolvers<FromPreparation>();
    const onExit = (): void => reject(tooMuch("memory"));
    worker.once("message", resolve);
    worker.once("exit", onExit);
    const watch = this.#watch(worker, (resource) => reject(tooMuch(resource)));
    worker.postMessage(message);
    try {
      return await promise;
    } finally {
      clearInterval(watch);
      worker.off("message", resolve);
      worker.off("exit", onExit);
    }
  }

  /** Replaces the thread when one call has used too much CPU time, by the thread's own clock, or too much memory. */
  #watch(worker: Worker, onExceeded: (resource: "CPU time" | "memory") => void): NodeJS.Timeout {
    let cpuMsBefore: number | undefined;
    return setInterval(() => {
      void usageOf(worker).then(({ cpuMs, heapBytes }) => {
        cpuMsBefore ??= cpuMs;
        const takesTooLong = cpuMs - cpuMsBefore >= maximumCpuMs;
        if ((!takesTooLong && heapBytes <= maximumHeapBytes) || this.#worker !== worker) return;
        this.#worker = undefined;
        onExceeded(takesTooLong ? "CPU time" : "memory");
        void worker.terminate();
      });
    }, watchMs);
  }

  #start(): Worker {
    const worker = new Worker(siblingScript(import.meta.url, "preparation-worker"), {
      workerData: this.#setup,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: v8HeapLimitMiB },
    });
    worker.on("error", (error) => this.#report(`A call could not be prepared: ${error.message}`));
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }
}

/** CPU time and memory of the thread; nothing when it has ended. */
async function usageOf(worker: Worker): Promise<{ readonly cpuMs: number; readonly heapBytes: number }> {
  try {
    const [{ user, system }, { used_heap_size: heapBytes }] = await Promise.all([
      worker.cpuUsage(),
      worker.getHeapStatistics(),
    ]);
    return { cpuMs: (user + system) / 1_000, heapBytes };
  } catch {
    return { cpuMs: 0, heapBytes: 0 };
  }
}

function tooMuch(what: string): AppError {
  return new AppError(
    "invalid_request",
    `This call needs too much ${what} to prepare: the schema in response_format.json_schema, the tools or the messages are too complex. Simplify them.`,
    { param: "response_format.json_schema" },
  );
}
