/**
 * Prepares calls in a worker thread: renders the chat template, turns schemas into grammars. Organizations take turns.
 * A call that takes too much CPU time or memory fails, and the thread is replaced.
 */
import { AppError } from "../../../errors.ts";
import { FairQueue } from "../../../scheduling/fair-queue.ts";
import { inputLimit } from "../../../input-limits.ts";
import { siblingScript } from "../../../child-process/sibling-script.ts";
import { WatchedWorker, type WorkerEnd, type WorkerLimits } from "../../../child-process/watched-worker.ts";
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
/** For one call. The code reports no progress, so the CPU time applies to the whole call. */
const limits: WorkerLimits = { stallCpuMs: maximumCpuMs, heapMiB: 256, buffersMiB: 256 };

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
  #worker: WatchedWorker | undefined;
  /** The call that the thread works on. */
  #pending: PromiseWithResolvers<FromPreparation> | undefined;

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
    this.#pending = Promise.withResolvers();
    worker.watch(() => 0);
    worker.post(message);
    try {
      return await this.#pending.promise;
    } finally {
      this.#pending = undefined;
      worker.unwatch();
    }
  }

  #start(): WatchedWorker {
    const events = {
      onMessage: (answer: unknown) => this.#pending?.resolve(answer as FromPreparation),
      onEnd: (end: WorkerEnd) => this.#onEnd(end),
    };
    return new WatchedWorker(siblingScript(import.meta.url, "preparation-worker"), limits, events, this.#setup);
  }

  #onEnd({ reason, error }: WorkerEnd): void {
    this.#worker = undefined;
    if (error instanceof Error) this.#report(`A call could not be prepared: ${error.message}`);
    this.#pending?.reject(tooMuch(reason === "stalled" ? "CPU time" : "memory"));
  }
}

function tooMuch(what: string): AppError {
  return new AppError(
    "invalid_request",
    `This call needs too much ${what} to prepare: the schema in response_format.json_schema, the tools or the messages are too complex. Simplify them.`,
    { param: "response_format.json_schema" },
  );
}
