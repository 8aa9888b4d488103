/**
 * Transcribes one recording, batch or streaming: cuts it into utterances, decodes several at a time, returns them in order.
 * An utterance is decoded once it is complete, so the words depend neither on the response format nor on the upload.
 * Reading stays at most a few utterances ahead of decoding, so an hour needs no more memory than a minute.
 */
import { abortable, onAbort } from "../../abort.ts";
import { AppError } from "../../errors.ts";
import { createEventQueue } from "../event-queue.ts";
import type { TranscribedSegment, TranscriptionCall } from "../engine.ts";
import { modelRate, type RecognizedWord } from "./protocol.ts";
import type { RecognizerPool } from "./recognizer-pool.ts";
import type { UtteranceAudio } from "./utterance-audio.ts";
import type { CallUsage } from "./decoding-usage.ts";
import { cutIntoUtterances, defaultChunking } from "./utterances.ts";

interface Parts {
  readonly pool: Pick<RecognizerPool, "open" | "decode">;
  readonly processes: number;
}

/** An utterance that is decoded, or is in the queue. */
interface Pending {
  readonly audio: UtteranceAudio;
  readonly words: Promise<readonly RecognizedWord[]>;
}

export async function* transcribe(
  call: TranscriptionCall,
  { pool, processes }: Parts,
): AsyncGenerator<TranscribedSegment, void, undefined> {
  const left = new AbortController();
  const signal = AbortSignal.any([call.signal, left.signal]);
  using usage = pool.open(call.fairnessKey);
  const utterances = createEventQueue<Pending>();
  const slots = createSlots(processes + 1);
  const begin = async (audio: UtteranceAudio): Promise<void> => {
    await slots.take(signal);
    utterances.push({ audio, words: decode(pool, { audio, signal, usage }) });
  };
  using _listener = onAbort(signal, () => utterances.fail(signal.reason));
  cutIntoUtterances(stopOn(signal, call.audio.open(modelRate)), call.chunking ?? defaultChunking, begin).then(
    () => utterances.end(),
    // An utterance in progress can no longer be completed.
    (error: unknown) => left.abort(error),
  );
  let sentUntilMs = 0;
  try {
    for (let next = await utterances.next(); next !== undefined; next = await utterances.next()) {
      const words = await next.words;
      slots.free();
      if (words.length === 0) continue;
      const segment = toSegment(words, {
        offsetMs: (next.audio.firstSample / modelRate) * 1000,
        earliestMs: sentUntilMs,
      });
      sentUntilMs = segment.endMs;
      yield segment;
    }
    signal.throwIfAborted();
  } finally {
    left.abort(new AppError("client_closed", "The transcription was cancelled."));
  }
}

function decode(
  pool: Parts["pool"],
  job: { audio: UtteranceAudio; signal: AbortSignal; usage: CallUsage },
): Promise<readonly RecognizedWord[]> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly RecognizedWord[]>();
  // Failures reach the caller in the order of the utterances.
  promise.catch(() => {});
  pool.decode({ ...job, onRecognized: resolve, onFailure: reject });
  return promise;
}

function toSegment(
  recognized: readonly RecognizedWord[],
  { offsetMs, earliestMs }: { offsetMs: number; earliestMs: number },
): TranscribedSegment {
  // The padding at the end of one utterance may overlap the beginning of the next.
  const inRecording = (ms: number): number => Math.max(offsetMs + ms, earliestMs);
  const words = recognized.map(({ text, startMs, endMs, confidence }) => ({
    text,
    startMs: inRecording(startMs),
    endMs: inRecording(endMs),
    confidence,
  }));
  return {
    kind: "segment",
    text: words.map(({ text }) => text).join(" "),
    startMs: words[0]!.startMs,
    endMs: words.at(-1)!.endMs,
    words,
    avgLogprob: undefined,
    speaker: undefined,
    language: undefined,
  };
}

/** Limits how many utterances are in progress; the next waits. */
function createSlots(most: number): { take(signal: AbortSignal): Promise<void>; free(): void } {
  let taken = 0;
  let wake: (() => void) | undefined;
  return {
    async take(signal) {
      taken += 1;
      if (taken <= most) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await abortable(promise, signal);
    },
    free() {
      taken -= 1;
      wake?.();
      wake = undefined;
    },
  };
}

/** The source until the signal aborts, even while it is waited for. */
async function* stopOn<T>(signal: AbortSignal, source: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { value, done } = await abortable(iterator.next(), signal);
      if (done === true) return;
      yield value;
    }
  } finally {
    // Not awaited: it may be stuck in what the signal was to end.
    void Promise.resolve(iterator.return?.()).catch(() => {});
  }
}
