/** Synthesizes speech phrase by phrase. Word times are estimated, because the library returns none. */
import { gainFor, targetLoudness } from "../../audio/voice-level.ts";
import { stretchSamples } from "../../audio/time-stretch.ts";
import { AppError } from "../../errors.ts";
import type { SpeechCall, SpeechModel, SpeechPiece } from "../engine.ts";
import type { ConcurrencyLimit } from "../concurrency-limit.ts";
import { estimateMarks } from "../spoken-text/estimate-marks.ts";
import { phrasesOf, type Phrase } from "../spoken-text/phrases.ts";
import { toPhraseAudio } from "../spoken-text/phrase-audio.ts";
import { normalizeWhitespace } from "../spoken-text/sentences.ts";
import { rewritten } from "../spoken-text/spoken-text.ts";
import { readerOf } from "../spoken-text/readers.ts";
import { synthesizePhrases, type PhraseTurn } from "../spoken-text/synthesize-phrases.ts";
import type { ModelPool } from "./model-pool.ts";
import type { SpeakerVoice } from "./voices.ts";

export interface SpeechModelParts {
  readonly pool: ModelPool;
  readonly slots: ConcurrencyLimit;
  readonly voices: readonly [SpeakerVoice, ...SpeakerVoice[]];
  /** Hertz. */
  readonly sampleRate: number;
}

/** A phrase holds up the first phrases of other calls, so it is not longer than speaking well needs. */
const phraseLengths = { longest: 160, longestFirst: 40, grows: true };
/** Of a voice whose first phrase is softer, only this much is made up for, in LUFS. */
const softest = -40;
/** The paces at which neural voices were trained; beyond them their speech is stretched. */
const slowest = 0.5;
const fastest = 2;

/** The loudness of a call's voice, in LUFS: that of its first phrase, so that the gain is the same throughout the call. */
interface VoiceLevel {
  loudness: number | undefined;
}

export function createSpeechModel({ pool, slots, voices, sampleRate }: SpeechModelParts): SpeechModel {
  const speakPhrase = async (
    readable: string,
    phrase: Phrase,
    { call, level, ...turn }: PhraseTurn & { call: SpeechCall; level: VoiceLevel },
  ): Promise<SpeechPiece> => {
    const { speaker } = voiceNamed(call.voice, voices);
    const text = rewritten(readable, phrase, phrase.rewrites);
    const speed = Math.min(fastest, Math.max(slowest, call.speed));
    const spoken = await pool.run({ ...turn, group: call.fairnessKey }, (process) =>
      process.run({ type: "speak", text: text.text, speaker, speed }),
    );
    const stretched = await stretchSamples(spoken.samples, spoken.sampleRate, call.speed / speed);
    if (level.loudness === undefined && Number.isFinite(spoken.loudness)) level.loudness = spoken.loudness;
    const { samples, sampleRate } = await toPhraseAudio(
      { samples: stretched, sampleRate: spoken.sampleRate },
      { pause: phrase.pause / call.speed, gain: gainFor(Math.max(softest, level.loudness ?? targetLoudness)) },
    );
    // Text without pronunciation in the model's language, such as lone punctuation, produces no audio.
    const marks = call.marks && stretched.length > 0 ? estimateMarks(text, { samples, sampleRate }) : [];
    return { samples, sampleRate, marks, sentence: phrase.sentence };
  };
  return {
    languages: voices.flatMap((voice) => voice.languages),
    givesMarks: true,
    voices: async () => voices,
    async *speak(call) {
      using _slot = slots.take(call.fairnessKey);
      const readable = normalizeWhitespace(call.input);
      const language = call.language ?? voiceNamed(call.voice, voices).languages[0];
      const level: VoiceLevel = { loudness: undefined };
      const phrases = phrasesOf(readable, { ...phraseLengths, language, rewrite: readerOf(language) });
      yield* synthesizePhrases(call, phrases, {
        sampleRate,
        speakPhrase: (phrase, turn) => speakPhrase(readable, phrase, { call, level, ...turn }),
      });
    },
  };
}

/** @throws AppError invalid_request */
function voiceNamed(name: string, voices: readonly SpeakerVoice[]): SpeakerVoice {
  const found = voices.find((voice) => voice.name === name);
  if (found !== undefined) return found;
  const known = voices.slice(0, 40).map((voice) => JSON.stringify(voice.name));
  throw new AppError("invalid_request", `voice is ${JSON.stringify(name)}; it must be one of ${known.join(", ")}.`, {
    param: "voice",
  });
}
