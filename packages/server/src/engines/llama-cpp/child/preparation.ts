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
/** Memory of the thread, MiB. */
const maximumHeapMiB = 256;
/** How often the thread's CPU time is checked. */
const watchMs = 100;

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
  /** `fault`: what is to be logged of an error that is not the caller's. */
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
    const watch = this.#watch(worker, () => reject(tooMuch("CPU time")));
    worker.postMessage(message);
    try {
      return await promise;
    } finally {
      clearInterval(watch);
      worker.off("message", resolve);
      worker.off("exit", onExit);
    }
  }

  /** Replaces the thread when it has worked on one call for too long, by its own clock. */
  #watch(worker: Worker, onOver: () => void): NodeJS.Timeout {
    let before: number | undefined;
    return setInterval(() => {
      void busyMs(worker).then((now) => {
        before ??= now;
        if (now - before < maximumCpuMs || this.#worker !== worker) return;
        this.#worker = undefined;
        onOver();
        void worker.terminate();
      });
    }, watchMs);
  }

  #start(): Worker {
    const worker = new Worker(siblingScript(import.meta.url, "preparation-worker"), {
      workerData: this.#setup,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maximumHeapMiB },
    });
    worker.on("error", (error) => this.#report(`A call could not be prepared: ${error.message}`));
    worker.once("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }
}

/** CPU time of the thread; 0 when it has ended. */
async function busyMs(worker: Worker): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1_000;
  } catch {
    return 0;
  }
}

function tooMuch(what: string): AppError {
  return new AppError(
    "invalid_request",
    `This call needs too much ${what} to prepare: the schema in response_format.json_schema, the tools or the messages are too complex. Simplify them.`,
    { param: "response_format.json_schema" },
  );
}
