/**
 * Speakers, such as worker threads and processes, that speak one phrase at a time: started when there is work, replaced
 * when they die or when a cancelled phrase keeps one busy. Phrases wait in line; a call has at most two of them, so
 * that calls take turns phrase by phrase.
 */
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { JobQueue, type JobTurn, type QueuedJob } from "../job-queue.ts";

/** Something that speaks phrases and may die of one. */
export interface Speaker<Phrase, Spoken> {
  /** Called again when the last phrase is spoken. Need not settle when the speaker ends. */
  speak(phrase: Phrase): Promise<Spoken>;
  /** Resolves when it is gone, with the reason where one is known. */
  readonly ended: Promise<unknown>;
  /** Ends it at once; resolves when it is gone. */
  end(): Promise<unknown>;
}

export interface SpeakerPoolOptions<Phrase, Spoken> {
  /** Most speakers. */
  readonly most: number;
  /** What a speaker is, for the log. */
  readonly what: string;
  readonly logger: Logger;
  /** Resolves when the speaker is ready. */
  start(): Promise<Speaker<Phrase, Spoken>>;
}

export interface SpeakerPool<Phrase, Spoken> {
  /** @throws AppError upstream_failed when the speaker dies, the signal's reason when it aborts */
  speak(phrase: Phrase, turn: JobTurn): Promise<Spoken>;
  /** Starts one speaker before it is needed. */
  warm(): void;
  close(): Promise<void>;
}

interface Job<Phrase, Spoken> extends QueuedJob {
  readonly phrase: Phrase;
  resolve(spoken: Spoken): void;
  cancelled: boolean;
}

interface Place<Phrase, Spoken> {
  readonly speaker: Speaker<Phrase, Spoken>;
  job: Job<Phrase, Spoken> | undefined;
  /** Ends a speaker that is stuck. */
  timer: NodeJS.Timeout | undefined;
}

/** A speaker that still works on a cancelled phrase after this long is replaced; most phrases end sooner, and a new one costs more. */
const graceMs = 90;
/** Longest time for one phrase. A phrase has some hundred characters at most, so a speaker that needs longer is stuck. */
const longestPhraseMs = 60_000;
/** Attempts to start a speaker that fail in a row before the waiting phrases are told. */
const mostFailedStarts = 3;

export function createSpeakerPool<Phrase, Spoken>(
  options: SpeakerPoolOptions<Phrase, Spoken>,
): SpeakerPool<Phrase, Spoken> {
  const { most, what, logger } = options;
  const places = new Set<Place<Phrase, Spoken>>();
  const jobs = new JobQueue<Job<Phrase, Spoken>>();
  let starting = 0;
  let failedStarts = 0;
  let closed = false;

  const assign = (): void => {
    for (const place of places) {
      if (place.job !== undefined) continue;
      const job = jobs.next();
      if (job === undefined) return;
      void work(place, job);
    }
    if (jobs.length > starting && places.size + starting < most && !closed) void start();
  };

  const work = async (place: Place<Phrase, Spoken>, job: Job<Phrase, Spoken>): Promise<void> => {
    place.job = job;
    place.timer = setTimeout(() => {
      fail(job, new Error(`it took more than ${longestPhraseMs} ms for one phrase`));
      void place.speaker.end();
    }, longestPhraseMs).unref();
    try {
      job.resolve(await place.speaker.speak(job.phrase));
      place.job = undefined;
      assign();
    } catch (error) {
      fail(job, error);
      // What a speaker that failed would say next cannot be trusted.
      void place.speaker.end();
    } finally {
      clearTimeout(place.timer);
    }
  };

  const fail = (job: Job<Phrase, Spoken>, cause: unknown): void => {
    if (job.cancelled) return;
    // Told once, by whoever notices first.
    job.cancelled = true;
    logger.warn({ error: cause }, `${what} failed while speaking`);
    job.reject(new AppError("upstream_failed", "The speech engine failed to speak this text.", { cause }));
  };

  const start = async (): Promise<void> => {
    starting++;
    try {
      const speaker = await options.start();
      if (closed) await speaker.end();
      else addPlace(speaker);
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

  const addPlace = (speaker: Speaker<Phrase, Spoken>): void => {
    const place: Place<Phrase, Spoken> = { speaker, job: undefined, timer: undefined };
    places.add(place);
    void speaker.ended.then((reason) => {
      places.delete(place);
      if (closed) return;
      // Its answer will never come, and need not settle.
      clearTimeout(place.timer);
      if (place.job !== undefined) fail(place.job, reason);
      assign();
    });
  };

  const cancel = (job: Job<Phrase, Spoken>): void => {
    job.cancelled = true;
    const place = [...places].find((each) => each.job === job);
    if (place === undefined) return;
    setTimeout(() => {
      if (place.job === job) void place.speaker.end();
    }, graceMs).unref();
  };

  return {
    async speak(phrase, { first, group = "", signal }) {
      if (closed) throw closing();
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Spoken>();
      const job: Job<Phrase, Spoken> = { phrase, first, group, resolve, reject, cancelled: false };
      const onAbort = (): void => {
        jobs.remove(job);
        cancel(job);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      jobs.push(job);
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
      jobs.rejectAll(closing());
      for (const { job } of places) {
        if (job === undefined) continue;
        job.cancelled = true;
        job.reject(closing());
      }
      await Promise.all([...places].map(({ speaker }) => speaker.end()));
    },
  };
}

function closing(): AppError {
  return new AppError("overloaded", "The speech engine is shutting down.");
}
