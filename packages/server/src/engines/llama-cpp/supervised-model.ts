/** Serves the calls of a model with its process: one process takes all calls at the same time. */
import { ProcessPool } from "../../child-process/process-pool.ts";
import type { PoolSession } from "../../child-process/pooled-process.ts";
import { abortReason } from "../../abort.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { ConcurrencyLimit } from "../concurrency-limit.ts";
import { modelPoolOptions } from "../model-pool-options.ts";
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
  preload(): void;
  /** Why it could not be loaded, as long as that is not tried again. */
  readonly problem: AppError | undefined;
  /** Whether its process has loaded it. */
  readonly isLoaded: boolean;
  close(): Promise<void>;
}

/** Texts of a call that are at the process: one is embedded, and the next is there when that is done. */
const inputsUnderway = 2;

export function superviseModel(options: SupervisedModelOptions): SupervisedModel {
  const { name, sequences, queueLimit, startTimeoutMs, idleUnloadMs, logger } = options;
  let files: readonly string[] = [];
  const pool = new ProcessPool<ModelProcess>({
    ...modelPoolOptions(name),
    most: 1,
    logger,
    async start(signal) {
      files = [];
      const settings = await options.settings();
      files = [settings.path];
      return startModelProcess({ name, settings, startTimeoutMs, logger, signal });
    },
    files: () => files,
    idleMs: idleUnloadMs,
  });
  const places = new ConcurrencyLimit(`The model ${JSON.stringify(name)}`, sequences + queueLimit);

  const admit = ({ choices, group }: Pick<Generation, "choices" | "group">): Disposable => {
    if (choices > sequences + queueLimit) {
      const message = `n is ${choices}, but this model generates at most ${sequences + queueLimit} choices.`;
      throw new AppError("invalid_request", message, { param: "n" });
    }
    return places.take(group, choices);
  };

  const enter = async (group: string, signal: AbortSignal): Promise<PoolSession<ModelProcess>> => {
    try {
      return await pool.enter({ group, signal });
    } catch (error) {
      throw signal.aborted ? abortReason(signal) : error;
    }
  };

  return {
    async *generate(generation, signal) {
      using _place = admit(generation);
      using session = await enter(generation.group, signal);
      yield* session.process.generate(generation, signal);
      session.succeed();
    },
    async embed(inputs, signal) {
      const group = inputs[0]?.group ?? "";
      using _place = admit({ choices: 1, group });
      using session = await enter(group, signal);
      const embedded = await embedEach(inputs, session.process, signal);
      session.succeed();
      return embedded;
    },
    get problem() {
      return pool.problem;
    },
    get isLoaded() {
      return pool.isLoaded;
    },
    preload: () => pool.preload(),
    close: () => pool.close(),
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
