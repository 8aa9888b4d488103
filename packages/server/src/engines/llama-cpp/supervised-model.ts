/**
 * Keeps the process of a model: starts it on the first call, restarts it after a crash (with exponential backoff from the
 * second crash on), and stops it when it has been idle.
 */
import { abortable, abortReason } from "../../abort.ts";
import { AppError, defaultRetryAfterMs } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { FailureBackoff } from "../../child-process/failure-backoff.ts";
import { ConcurrencyLimit } from "../concurrency-limit.ts";
import { LoadFailure } from "../load-failure.ts";
import { startModelProcess, type ModelProcess } from "./model-process.ts";
import type { EmbeddedInput, EmbeddingInput, Generation, GenerationEvent, LoadSettings } from "./protocol.ts";

export interface SupervisedModelOptions {
  readonly name: string;
  /** The model file may have to be written or looked for first. */
  readonly settings: () => Promise<LoadSettings>;
  readonly sequences: number;
  /** Choices that may wait for a free sequence. */
  readonly queueLimit: number;
  readonly startTimeoutMs: number;
  /** Undefined: never unloaded. */
  readonly idleUnloadMs: number | undefined;
  readonly logger: Logger;
}

export interface SupervisedModel {
  /** The events of a generation; leaving the loop or aborting the signal cancels it. */
  generate(generation: Generation, signal: AbortSignal): AsyncGenerator<GenerationEvent, void, undefined>;
  /** The vectors of texts of one call, in their order; aborting the signal cancels it. */
  embed(inputs: readonly EmbeddingInput[], signal: AbortSignal): Promise<EmbeddedInput[]>;
  /** Loads the model before it is needed. */
  preload(): Promise<void>;
  /** Why it could not be loaded, as long as that is not tried again. */
  readonly problem: AppError | undefined;
  /** Whether its process has loaded it. */
  readonly isLoaded: boolean;
  close(): Promise<void>;
}

/** Texts of a call that are at the process: one is embedded, and the next is there when that is done. */
const inputsUnderway = 2;

export function superviseModel(options: SupervisedModelOptions): SupervisedModel {
  const { name, sequences, queueLimit, idleUnloadMs, logger } = options;
  /** The process, or its start. */
  let current: Promise<ModelProcess> | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  let choicesUnderway = 0;
  /** Counts failed starts and unexpected ends of the process. */
  const pauses = new FailureBackoff();
  let closed = false;

  const stopping = new WeakSet<ModelProcess>();

  let loaded: ModelProcess | undefined;

  const failure = new LoadFailure();

  const start = async (): Promise<ModelProcess> => {
    const settings = await options.settings();
    const { startTimeoutMs } = options;
    const started = await startModelProcess({ name, settings, startTimeoutMs, logger }).catch(
      async (error: unknown) => {
        if (error instanceof AppError && error.lasting) await failure.remember(error, [settings.path]);
        throw error;
      },
    );
    loaded = started;
    void started.ended.then(() => {
      if (loaded === started) loaded = undefined;
      if (stopping.has(started)) return;
      current = undefined;
      pauses.fail();
    });
    return started;
  };

  const loadedProcess = (): Promise<ModelProcess> => {
    if (current !== undefined) return current;
    const { count, leftMs: pauseMs } = pauses;
    if (pauseMs > 0) {
      throw new AppError(
        "overloaded",
        `The model ${JSON.stringify(name)} failed ${count} times and is about to be restarted. Retry later.`,
        { retryAfterMs: pauseMs },
      );
    }
    const starting = start();
    current = starting;
    starting.catch((error: unknown) => {
      if (current === starting) current = undefined;
      if (!(error instanceof AppError && error.lasting)) pauses.fail();
      logger.error({ model: name, error }, "a model cannot be loaded");
    });
    return starting;
  };

  const loadedUnlessAborted = async (signal: AbortSignal): Promise<ModelProcess> => {
    try {
      if (failure.isKnown) await failure.check();
      return await abortable(loadedProcess(), signal);
    } catch (error) {
      throw signal.aborted ? abortReason(signal) : error;
    }
  };

  const unload = async (): Promise<void> => {
    clearTimeout(idleTimer);
    const unloading = current;
    // A call that comes from now on starts another process.
    current = undefined;
    const process = await unloading?.catch(() => undefined);
    if (process === undefined) return;
    stopping.add(process);
    process.stop();
    await process.ended;
  };

  const slots = new ConcurrencyLimit(`The model ${JSON.stringify(name)}`, sequences + queueLimit);

  const admit = ({ choices, group }: Pick<Generation, "choices" | "group">): Disposable => {
    if (closed)
      throw new AppError("overloaded", `The model ${JSON.stringify(name)} is shutting down.`, {
        retryAfterMs: defaultRetryAfterMs,
      });
    if (choices > sequences + queueLimit) {
      throw new AppError(
        "invalid_request",
        `n is ${choices}, but this model generates at most ${sequences + queueLimit} choices.`,
        {
          param: "n",
        },
      );
    }
    const slot = slots.take(group, choices);
    choicesUnderway += choices;
    clearTimeout(idleTimer);
    return slot;
  };

  const leave = (choices: number): void => {
    choicesUnderway -= choices;
    if (choicesUnderway > 0 || idleUnloadMs === undefined || closed) return;
    idleTimer = setTimeout(() => {
      logger.info({ model: name }, "model unloaded after being idle");
      void unload();
    }, idleUnloadMs);
    idleTimer.unref();
  };

  return {
    async *generate(generation, signal) {
      using _slot = admit(generation);
      try {
        const process = await loadedUnlessAborted(signal);
        yield* process.generate(generation, signal);
        pauses.succeed();
      } finally {
        leave(generation.choices);
      }
    },
    async embed(inputs, signal) {
      using _slot = admit({ choices: 1, group: inputs[0]?.group ?? "" });
      try {
        const process = await loadedUnlessAborted(signal);
        const embedded = await embedEach(inputs, process, signal);
        pauses.succeed();
        return embedded;
      } finally {
        leave(1);
      }
    },
    get problem() {
      return failure.error;
    },
    get isLoaded() {
      return loaded !== undefined && !stopping.has(loaded);
    },
    async preload() {
      await loadedProcess();
    },
    async close() {
      closed = true;
      await unload();
    },
  };
}

async function embedEach(
  inputs: readonly EmbeddingInput[],
  process: ModelProcess,
  callerSignal: AbortSignal,
): Promise<EmbeddedInput[]> {
  const failed = new AbortController();
  const signal = AbortSignal.any([callerSignal, failed.signal]);
  const embedded: EmbeddedInput[] = [];
  const rest = inputs.entries();
  const work = async (): Promise<void> => {
    for (const [index, input] of rest) embedded[index] = await process.embed(input, signal);
  };
  try {
    await Promise.all(Array.from({ length: inputsUnderway }, work));
    return embedded;
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}
