/** Transcribes with a batch model: voice activity detection cuts the recording into segments, decoded one at a time. */
import { speechSegments, type SpeechSegment } from "../../audio/speech-segments.ts";
import { AppError } from "../../errors.ts";
import type { TranscribedSegment, TranscriptionCall, TranscriptionModel } from "../engine.ts";
import type { ConcurrencyLimit } from "../concurrency-limit.ts";
import { mapInOrder } from "./ordered-map.ts";
import { languageFor, onlyLanguage } from "./languages.ts";
import { recognitionRate } from "./library-settings.ts";
import type { ModelPool } from "./model-pool.ts";
import type { SpeakerTurns } from "./protocol.ts";
import { recognizeWhole } from "./recognize-whole.ts";
import { recognizedSegments } from "./recognized-segments.ts";
import { SpeakerRegistry } from "./speaker-registry.ts";
import { partsBySpeaker, type SpokenPart } from "./split-by-speaker.ts";
import { SpokenLanguage } from "./spoken-language.ts";

export interface VadSegmentModelParts {
  readonly pool: ModelPool;
  readonly slots: ConcurrencyLimit;
  /** Stretches of one call that are worked on at the same time. */
  readonly processes: number;
  /** Undefined: any. */
  readonly languages: readonly string[] | undefined;
  readonly givesWords: boolean;
  /** Whether the model makes fewer mistakes the more it hears at a time, as Whisper, which learned from 30 s. */
  readonly needsContext: boolean;
  /** What the model calls a language; undefined for its own choice. */
  readonly nameOf: (primary: string) => string | undefined;
  /** Cosine distance up to which voices are one speaker's; undefined if speakers are not identified. */
  readonly speakerThreshold: number | undefined;
}

/** Whisper processes 30 s at a time, including some silence at the end. */
const longestStretch = 28;
/** Default audio before speech, and default silence that ends a stretch. Long speech ends at shorter pauses: the text comes earlier. */
const usualChunking = {
  prefixPaddingMs: 300,
  silenceDurationMs: 700,
  longSpeech: { lengthMs: 8_000, pauseMs: 300 },
};
/** The same for a model that needs context, if the caller waits for the whole text. */
const chunkingForContext = { prefixPaddingMs: 300, silenceDurationMs: 2_000 };

export function createVadSegmentModel(parts: VadSegmentModelParts): TranscriptionModel {
  return {
    languages: parts.languages ?? ["*"],
    givesWords: parts.givesWords,
    async *transcribe(call) {
      const primary = languageFor(call.language, parts.languages);
      const language = primary === undefined ? undefined : parts.nameOf(primary);
      using _slot = parts.slots.take(call.fairnessKey);
      const left = new AbortController();
      const signal = AbortSignal.any([call.signal, left.signal]);
      try {
        yield* transcribe(parts, call, { language, signal });
      } finally {
        left.abort(new AppError("client_closed", "The transcription was cancelled."));
      }
    },
  };
}

async function* transcribe(
  { pool, processes, speakerThreshold, languages, needsContext }: VadSegmentModelParts,
  call: TranscriptionCall,
  { language, signal }: { language: string | undefined; signal: AbortSignal },
): AsyncGenerator<TranscribedSegment, void, undefined> {
  const group = call.fairnessKey;
  const segments = speechSegments(call.audio.open(recognitionRate), {
    ...(call.chunking ?? (needsContext && !call.partials ? chunkingForContext : usualChunking)),
    sampleRate: recognitionRate,
    longest: longestStretch,
  });
  const parts =
    speakerThreshold === undefined
      ? segments
      : bySpeaker(segments, new SpeakerRegistry(speakerThreshold), (samples) =>
          pool.run({ first: false, group, signal }, (process) => process.run({ type: "diarize", samples })),
        );
  const spoken = new SpokenLanguage(language);
  const known = onlyLanguage(languages);
  let first = true;
  const recognize = async (part: SpeechSegment | SpokenPart): Promise<TranscribedSegment[]> => {
    const stretches = await spoken.recognize((each) =>
      recognizeWhole(part, async (samples) => {
        const turn = { first, group, signal };
        first = false;
        return await pool.run(turn, (process) => process.run({ type: "transcribe", samples, language: each }));
      }),
    );
    const speaker = "speaker" in part ? part.speaker : undefined;
    return stretches
      .flatMap(recognizedSegments)
      .map((segment) => ({ ...segment, speaker, language: segment.language ?? known }));
  };
  for await (const recognized of mapInOrder<SpeechSegment | SpokenPart, TranscribedSegment[]>(
    parts,
    processes,
    recognize,
  )) {
    yield* recognized;
  }
}

/** One segment after another, so that speakers are numbered in order of appearance. */
async function* bySpeaker(
  segments: AsyncIterable<SpeechSegment>,
  speakers: SpeakerRegistry,
  diarize: (samples: Float32Array) => Promise<SpeakerTurns>,
): AsyncGenerator<SpokenPart, void, undefined> {
  for await (const segment of segments) {
    yield* partsBySpeaker(segment, await diarize(segment.samples), speakers);
  }
}
