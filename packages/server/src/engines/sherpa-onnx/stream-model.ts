/** Transcribes with a streaming model: text is sent as it is recognized, and a pause ends a segment. */
import { inBlocks } from "../../audio/blocks.ts";
import { AppError } from "../../errors.ts";
import type { TranscribedDelta, TranscribedSegment, TranscriptionCall, TranscriptionModel } from "../engine.ts";
import type { ConcurrencyLimit } from "../concurrency-limit.ts";
import { languageFor, onlyLanguage } from "./languages.ts";
import { recognitionRate } from "./library-settings.ts";
import type { PoolSession } from "../../child-process/pooled-process.ts";
import type { ModelPool } from "./model-pool.ts";
import type { ModelProcess } from "./model-process.ts";
import type { StreamRecognition, Utterance } from "./protocol.ts";
import { RecentAudio } from "./recent-audio.ts";
import { recognizedWords } from "./recognized-words.ts";
import { SpeakerRegistry } from "./speaker-registry.ts";
import { mainSpeaker } from "./split-by-speaker.ts";

export interface StreamModelParts {
  readonly pool: ModelPool;
  readonly slots: ConcurrencyLimit;
  /** Undefined: any. */
  readonly languages: readonly string[] | undefined;
  /** Cosine distance up to which voices are one speaker's; undefined if speakers are not identified. */
  readonly speakerThreshold: number | undefined;
}

/**
 * Seconds of audio per piece of work, so that other streams run in between. All pieces have this length, because the model's
 * results at the end of each piece decide which text is sent and where a segment ends.
 */
const pieceSeconds = 0.5;
/** Default silence after words that ends a segment. */
const usualSilenceMs = 800;
/** Seconds of a segment that are read again to identify its speaker, and milliseconds of context around it. */
const longestSegment = 45;
const marginMs = 200;

export function createStreamModel({ pool, slots, languages, speakerThreshold }: StreamModelParts): TranscriptionModel {
  return {
    languages: languages ?? ["*"],
    givesWords: true,
    async *transcribe(call) {
      languageFor(call.language, languages);
      using _slot = slots.take(call.fairnessKey);
      const group = call.fairnessKey;
      using session = await pool.enter({ signal: call.signal, group });
      const left = new AbortController();
      const signal = AbortSignal.any([call.signal, left.signal]);
      try {
        const recent = new RecentAudio(recognitionRate, longestSegment);
        const speakers = speakerThreshold === undefined ? undefined : new SpeakerRegistry(speakerThreshold);
        const language = onlyLanguage(languages);
        for await (const item of listen(session, { call, signal, recent, language })) {
          if (item.kind === "delta" || speakers === undefined) yield item;
          else {
            const samples = recent.between(item.startMs - marginMs, item.endMs + marginMs);
            const turns = await pool.run({ first: false, group, signal }, (process) =>
              process.run({ type: "diarize", samples }),
            );
            yield { ...item, speaker: mainSpeaker(turns, speakers) };
          }
        }
      } finally {
        left.abort(new AppError("client_closed", "The transcription was cancelled."));
      }
    },
  };
}

interface ListenOptions {
  readonly call: TranscriptionCall;
  readonly signal: AbortSignal;
  readonly recent: RecentAudio;
  /** Of the text, if it is known. */
  readonly language: string | undefined;
}

async function* listen(
  { process, run }: PoolSession<ModelProcess>,
  { call, signal, recent, language }: ListenOptions,
): AsyncGenerator<TranscribedDelta | TranscribedSegment, void, undefined> {
  using stream = process.openStream();
  const turn = { first: false, group: call.fairnessKey, signal };
  const { audio, chunking, partials } = call;
  const silenceMs = chunking?.silenceDurationMs ?? usualSilenceMs;
  let sent = "";
  let seconds = 0;
  function* toItems({ utterance, ended }: StreamRecognition): Generator<TranscribedDelta | TranscribedSegment, void> {
    const text = utterance.text.trim();
    // Sent text is never changed, even if the model revises it.
    const settled = text.startsWith(sent) ? text : sent;
    if (ended) {
      sent = "";
      if (settled !== "") yield { ...toSegment({ ...utterance, text: settled }, seconds), language };
    } else if (settled.length > sent.length) {
      // Text counts as sent even if nobody asked for it: the words are the same, streamed or not.
      if (partials) yield { kind: "delta", text: settled.slice(sent.length) };
      sent = settled;
    }
  }
  for await (const samples of inBlocks(audio.open(recognitionRate), pieceSeconds * recognitionRate)) {
    seconds += samples.length / recognitionRate;
    recent.push(samples);
    yield* toItems(await run(turn, () => stream.listen({ samples, last: false, silenceMs })));
  }
  yield* toItems(await run(turn, () => stream.listen({ samples: new Float32Array(0), last: true, silenceMs })));
}

/** @param seconds of the recording that were decoded */
function toSegment(utterance: Utterance, seconds: number): TranscribedSegment {
  const { text, origin } = utterance;
  const words = recognizedWords(utterance, { begin: origin, end: seconds });
  return {
    kind: "segment",
    text,
    startMs: words?.[0]?.startMs ?? Math.round(origin * 1000),
    endMs: words?.at(-1)?.endMs ?? Math.round(seconds * 1000),
    words,
    avgLogprob: undefined,
    speaker: undefined,
    language: undefined,
  };
}
