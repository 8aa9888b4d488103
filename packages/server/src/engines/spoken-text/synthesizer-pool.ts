/**
 * Schedules phrases onto synthesizers (worker threads or processes, one phrase at a time): starts them on demand, replaces
 * those that crash or are stuck with a cancelled phrase. A call queues at most two phrases, so calls take turns.
 */
import { onAbort } from "../../abort.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { JobQueue, type JobOptions, type QueuedJob } from "../job-queue.ts";

/** A process or thread that synthesizes phrases and may crash on one. */
export interface Synthesizer<Phrase, Spoken> {
  /** Called again when the last phrase is done. Need not settle when the synthesizer ends. */
  speak(phrase: Phrase): Promise<Spoken>;
  /** Resolves when it has ended, with the reason if one is known. */
  readonly ended: Promise<unknown>;
  /** Ends it immediately; resolves when it has ended. */
  end(): Promise<unknown>;
}

export interface SynthesizerPoolOptions<Phrase, Spoken> {
  /** Maximum number of synthesizers. */
  readonly most: number;
  /** Names a synthesizer in the log. */
  readonly what: string;
  readonly logger: Logger;
  /** Resolves when the synthesizer is ready. */
  start(): Promise<Synthesizer<Phrase, Spoken>>;
}

export interface SynthesizerPool<Phrase, Spoken> {
  /** @throws AppError upstream_failed when the synthesizer crashes, the signal's reason when it aborts */
  speak(phrase: Phrase, turn: JobOptions): Promise<Spoken>;
  /** Starts one synthesizer before it is needed. */
  warm(): void;
  close(): Promise<void>;
}

interface Job<Phrase, Spoken> extends QueuedJob {
  readonly phrase: Phrase;
  resolve(spoken: Spoken): void;
  cancelled: boolean;
}

interface Slot<Phrase, Spoken> {
  readonly speaker: Synthesizer<Phrase, Spoken>;
  job: Job<Phrase, Spoken> | undefined;
  /** Ends a synthesizer that is stuck. */
  timer: NodeJS.Timeout | undefined;
}

/** A synthesizer still busy with a cancelled phrase after this long is replaced; most phrases end sooner, and a new process costs more. */
const graceMs = 90;
/** Longest time for one phrase. A phrase has a few hundred characters at most, so a synthesizer that needs longer is stuck. */
const longestPhraseMs = 60_000;
/** Consecutive failed starts after which queued phrases fail. */
const mostFailedStarts = 3;

export function createSynthesizerPool<Phrase, Spoken>(
  options: SynthesizerPoolOptions<Phrase, Spoken>,
): SynthesizerPool<Phrase, Spoken> {
  const { most, what, logger } = options;
  const slots = new Set<Slot<Phrase, Spoken>>();
  const jobs = new JobQueue<Job<Phrase, Spoken>>();
  let starting = 0;
  let failedStarts = 0;
  let closed = false;

  const assign = (): void => {
    for (const slot of slots) {
      if (slot.job !== undefined) continue;
      const job = jobs.next();
      if (job === undefined) return;
      void work(slot, job);
    }
    if (jobs.length > starting && slots.size + starting < most && !closed) void start();
  };

  const work = async (slot: Slot<Phrase, Spoken>, job: Job<Phrase, Spoken>): Promise<void> => {
    slot.job = job;
    slot.timer = setTimeout(() => {
      fail(job, new Error(`it took more than ${longestPhraseMs} ms for one phrase`));
      void slot.speaker.end();
    }, longestPhraseMs).unref();
    try {
      job.resolve(await slot.speaker.speak(job.phrase));
      slot.job = undefined;
      assign();
    } catch (error) {
      fail(job, error);
      // The next output of a failed synthesizer cannot be trusted.
      void slot.speaker.end();
    } finally {
      clearTimeout(slot.timer);
    }
  };

  const fail = (job: Job<Phrase, Spoken>, cause: unknown): void => {
    if (job.cancelled) return;
    // Reported once, by whichever handler notices it first.
    job.cancelled = true;
    logger.warn({ error: cause }, `${what} failed while speaking`);
    job.reject(new AppError("upstream_failed", "The speech engine failed to speak this text.", { cause }));
  };

  const start = async (): Promise<void> => {
    starting++;
    try {
      const speaker = await options.start();
      if (closed) await speaker.end();
      else addSlot(speaker);
      failedStarts = 0;
    } catch (error) {
      onFailedStart(error);
    } finally {
      starting--;
    }
    if (!closed) assign();
  };

  const onFailedStart = (error: unknown): void => {
    if (closed) return;
    failedStarts++;
    logger.error({ error }, `${what} did not start`);
    if (failedStarts < mostFailedStarts) return;
    failedStarts = 0;
    jobs.rejectAll(new AppError("upstream_failed", "The speech engine cannot be started.", { cause: error }));
  };

  const addSlot = (speaker: Synthesizer<Phrase, Spoken>): void => {
    const slot: Slot<Phrase, Spoken> = { speaker, job: undefined, timer: undefined };
    slots.add(slot);
    void speaker.ended.then((reason) => {
      slots.delete(slot);
      if (closed) return;
      // Its result will never arrive.
      clearTimeout(slot.timer);
      if (slot.job !== undefined) fail(slot.job, reason);
      assign();
    });
  };

  const cancel = (job: Job<Phrase, Spoken>): void => {
    job.cancelled = true;
    const slot = [...slots].find((each) => each.job === job);
    if (slot === undefined) return;
    setTimeout(() => {
      if (slot.job === job) void slot.speaker.end();
    }, graceMs).unref();
  };

  return {
    async speak(phrase, { first, group = "", signal }) {
      if (closed) throw closing();
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Spoken>();
      const job: Job<Phrase, Spoken> = { phrase, first, group, resolve, reject, cancelled: false };
      using _listener = onAbort(signal, () => {
        jobs.remove(job);
        cancel(job);
        reject(signal.reason);
      });
      jobs.push(job);
      assign();
      return await promise;
    },
    warm() {
      if (slots.size + starting === 0) void start();
    },
    async close() {
      closed = true;
      jobs.rejectAll(closing());
      for (const { job } of slots) {
        if (job === undefined) continue;
        job.cancelled = true;
        job.reject(closing());
      }
      await Promise.all([...slots].map(({ speaker }) => speaker.end()));
    },
  };
}

function closing(): AppError {
  return new AppError("overloaded", "The speech engine is shutting down.");
}
