/**
 * Implements the engine `espeak`: speech in over 100 languages with espeak-ng, the installed program or the npm package,
 * in separate processes either way.
 * docs/adr/0013-speech.md
 */
import { availableParallelism } from "node:os";
import { gainFor } from "../../audio/voice-level.ts";
import { stretchSamples } from "../../audio/time-stretch.ts";
import type { EspeakEngineSettings } from "../../config/engines/espeak.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Engine, SpeechCall, SpeechMark, SpeechModel, SpeechPiece } from "../engine.ts";
import { noSuchModel } from "../no-such-model.ts";
import { ConcurrencyLimit } from "../concurrency-limit.ts";
import { estimateMarks } from "../spoken-text/estimate-marks.ts";
import { extentOf, movedForward, toMarks, type SpokenToken } from "../spoken-text/marks.ts";
import { toPhraseAudio, type PhraseAudio } from "../spoken-text/phrase-audio.ts";
import { phrasesOf, type Phrase } from "../spoken-text/phrases.ts";
import { normalizeWhitespace } from "../spoken-text/sentences.ts";
import { rewritten, type SpokenText } from "../spoken-text/spoken-text.ts";
import { readerOf } from "../spoken-text/readers.ts";
import { synthesizePhrases } from "../spoken-text/synthesize-phrases.ts";
import { createPackageBackend, hasPackage } from "./package-backend.ts";
import { createProgramBackend } from "./program-backend.ts";
import { alignWords } from "./align-words.ts";
import type { EspeakBackend } from "./backend.ts";
import { levelOf } from "./voice-levels.ts";

const modelId = "espeak-ng";
const phraseLengths = { longest: 300, longestFirst: 80 };
/** Words per minute at speed 1, and the limits of espeak-ng's own speed control. */
const wordsPerMinute = 175;
const supportedSpeeds = { slowest: 0.5, fastest: 2.5 };
const programRate = 22_050;

export function createEspeakEngine(
  name: string,
  settings: EspeakEngineSettings,
  { logger }: { logger: Logger },
): Engine {
  const processes = settings.processes ?? Math.min(availableParallelism(), 8);
  const slots = new ConcurrencyLimit(`The engine ${JSON.stringify(name)}`, processes + settings.queue_limit);
  const closing = new AbortController();
  const variant = createVariant(settings, { processes, logger });
  const model: SpeechModel = {
    givesMarks: true,
    voices: async (signal) => (await variant.get(signal)).voices(signal),
    async *speak(call) {
      using _slot = slots.take(call.fairnessKey);
      const signal = AbortSignal.any([call.signal, closing.signal]);
      yield* speak({ ...call, signal }, await variant.get(signal));
    },
  };
  return {
    name,
    speech(id) {
      if (id === modelId) return model;
      throw noSuchModel(name, id, [modelId]);
    },
    async listModels(signal) {
      // Only checks that the package exists: servers that never speak should not pay for a process.
      await variant.get(signal);
      return [{ id: modelId, created: 0, ownedBy: name }];
    },
    async close() {
      closing.abort(new AppError("overloaded", "The speech engine is shutting down."));
      await variant.close();
    },
  };
}

/** The program where it is installed, else the package; looked for when the first call needs it. */
function createVariant(
  { program, variant }: EspeakEngineSettings,
  { processes, logger }: { processes: number; logger: Logger },
) {
  const ofProgram = createProgramBackend({ program, processes });
  const ofPackage = createPackageBackend({ processes, logger });
  let found: EspeakBackend | undefined;
  const find = async (signal: AbortSignal): Promise<EspeakBackend> => {
    if (variant === "package") {
      if (hasPackage()) return ofPackage;
      throw new AppError("overloaded", "The npm package of espeak-ng is not installed.");
    }
    try {
      await ofProgram.voices(signal);
      return ofProgram;
    } catch (error) {
      signal.throwIfAborted();
      if (variant === "program" || !hasPackage()) throw error;
      logger.debug({ error }, "the espeak-ng program is not installed; its npm package is used instead");
      return ofPackage;
    }
  };
  return {
    get: async (signal: AbortSignal): Promise<EspeakBackend> => (found ??= await find(signal)),
    close: async (): Promise<void> => {
      await Promise.all([ofProgram.close(), ofPackage.close()]);
    },
  };
}

/** The language of an English voice, in the requested region. */
function readAs(voiceLanguage: string, requested: string | undefined): string {
  return /^en\b/.test(voiceLanguage) ? (requested ?? voiceLanguage) : voiceLanguage;
}

function speak(call: SpeechCall, variant: EspeakBackend): AsyncGenerator<SpeechPiece, void, undefined> {
  const readable = normalizeWhitespace(call.input);
  const language = call.voice.replace(/\+.*/, "");
  // Other languages have rules of their own in espeak-ng.
  const phrases = phrasesOf(readable, {
    ...phraseLengths,
    language,
    rewrite: readerOf(readAs(language, call.language)),
  });
  return synthesizePhrases(call, phrases, {
    sampleRate: programRate,
    speakPhrase: (phrase, { first, signal }) =>
      speakPhrase(readable, phrase, { variant, first, call: { ...call, signal } }),
  });
}

async function speakPhrase(
  readable: string,
  phrase: Phrase,
  { variant, first, call }: { variant: EspeakBackend; first: boolean; call: SpeechCall },
): Promise<SpeechPiece> {
  const { voice, speed, signal, marks, fairnessKey: group } = call;
  const text = rewritten(readable, phrase, phrase.rewrites);
  const synthesisSpeed = Math.min(Math.max(speed, supportedSpeeds.slowest), supportedSpeeds.fastest);
  const spoken = await variant.speak({
    text: escapeMarkup(text.text),
    voice,
    wordsPerMinute: Math.round(wordsPerMinute * synthesisSpeed),
    first,
    group,
    signal,
  });
  const { sampleRate } = spoken;
  const slower = synthesisSpeed / speed;
  const { words = [] } = spoken;
  const tokens = words.length === 0 ? [] : alignWords(text.text, words, slower / 1_000);
  const audio = await toPhraseAudio(
    { samples: await stretchSamples(spoken.samples, sampleRate, 1 / slower), sampleRate },
    { pause: phrase.pause / speed, gain: gainFor(levelOf(voice)), spoken: extentOf(tokens) },
  );
  const { samples } = audio;
  return {
    sampleRate,
    samples,
    marks: marks ? marksOf(text, { audio, tokens }) : [],
    sentence: phrase.sentence,
  };
}

/**
 * The text without markup that espeak-ng interprets, position by position: double brackets enclose phonemes, and the
 * package parses SSML and its entities.
 */
function escapeMarkup(text: string): string {
  return text
    .replaceAll("[[", " [")
    .replaceAll(/[<>]/g, " ")
    .replaceAll(/&(?=[#\w]+;)/g, " ");
}

function marksOf(
  text: SpokenText,
  { audio, tokens }: { audio: PhraseAudio; tokens: readonly SpokenToken[] },
): SpeechMark[] {
  if (tokens.length === 0) return estimateMarks(text, audio);
  return toMarks(text, movedForward(tokens, audio.removed), audio.samples.length / audio.sampleRate);
}
