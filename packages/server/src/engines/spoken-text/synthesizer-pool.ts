/**
 * Speaks phrases with synthesizers: worker threads or processes that speak one phrase at a time. A call queues at most two
 * phrases, so calls take turns.
 */
import { ProcessPool } from "../../child-process/process-pool.ts";
import type { PooledProcess } from "../../child-process/pooled-process.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { JobOptions } from "../../scheduling/job-queue.ts";

/** A process or thread that synthesizes phrases and may crash on one. */
export interface Synthesizer<Phrase, Spoken> extends PooledProcess {
  /** Called again when the last phrase is done. Need not settle when the synthesizer ends. */
  speak(phrase: Phrase): Promise<Spoken>;
}

export interface SynthesizerPoolOptions<Phrase, Spoken> {
  /** Maximum number of synthesizers. */
  readonly most: number;
  /** Names a synthesizer in the log. */
  readonly what: string;
  readonly logger: Logger;
  /** Resolves when the synthesizer is ready. */
  start(signal: AbortSignal): Promise<Synthesizer<Phrase, Spoken>>;
}

export interface SynthesizerPool<Phrase, Spoken> {
  /** @throws AppError upstream_failed when the synthesizer crashes, the signal's reason when it aborts */
  speak(phrase: Phrase, turn: JobOptions): Promise<Spoken>;
  /** Starts one synthesizer before it is needed. */
  preload(): void;
  close(): Promise<void>;
}

/** A synthesizer still busy with a cancelled phrase after this long is replaced; most phrases end sooner, and a new process costs more. */
const graceMs = 90;
/** A phrase has a few hundred characters at most, so a synthesizer that needs longer is stuck. */
const longestPhraseMs = 60_000;

export function createSynthesizerPool<Phrase, Spoken>({
  most,
  what,
  logger,
  start,
}: SynthesizerPoolOptions<Phrase, Spoken>): SynthesizerPool<Phrase, Spoken> {
  const pool = new ProcessPool<Synthesizer<Phrase, Spoken>>({
    most,
    what: "The speech engine",
    logger,
    messages: {
      failed: `${what} failed while speaking`,
      notStarted: `${what} did not start`,
      idle: `${what} was idle`,
    },
    async start(signal) {
      try {
        return await start(signal);
      } catch (cause) {
        throw new AppError("upstream_failed", "The speech engine cannot be started.", { cause });
      }
    },
    failure: (cause) => new AppError("upstream_failed", "The speech engine failed to speak this text.", { cause }),
    graceMs: () => graceMs,
    longestWorkMs: longestPhraseMs,
    longestPauseAfterCrashMs: 0,
  });
  const speak = async (synthesizer: Synthesizer<Phrase, Spoken>, phrase: Phrase): Promise<Spoken> => {
    try {
      return await synthesizer.speak(phrase);
    } catch (error) {
      // The next output of a failed synthesizer cannot be trusted.
      void synthesizer.stop();
      throw error;
    }
  };
  return {
    speak: (phrase, turn) => pool.run(turn, (synthesizer) => speak(synthesizer, phrase)),
    preload: () => pool.preload(),
    close: () => pool.close(),
  };
}
