/**
 * Implements the engine `flite`: English speech from Flite as WebAssembly in worker threads, with nothing to install.
 * docs/adr/0013-speech.md
 */
import { availableParallelism } from "node:os";
import { gainFor } from "../../audio/voice-level.ts";
import type { FliteEngineSettings } from "../../config/engines/flite.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import type { Engine, SpeechCall, SpeechModel, SpeechPiece } from "../engine.ts";
import { noSuchModel } from "../no-such-model.ts";
import { asciiOf } from "../spoken-text/ascii-text.ts";
import { ConcurrencyLimit } from "../concurrency-limit.ts";
import { extentOf, movedForward, toMarks } from "../spoken-text/marks.ts";
import { toPhraseAudio } from "../spoken-text/phrase-audio.ts";
import { phrasesOf, type Phrase } from "../spoken-text/phrases.ts";
import { normalizeWhitespace } from "../spoken-text/sentences.ts";
import { rewritten } from "../spoken-text/spoken-text.ts";
import { readerOf } from "../spoken-text/readers.ts";
import { synthesizePhrases } from "../spoken-text/synthesize-phrases.ts";
import { fliteVoices, voiceLevels, voiceNames, type FliteVoiceName } from "./voices.ts";
import { createWorkerPool, type WorkerPool } from "./worker-pool.ts";

const modelId = "flite";
const voiceRate = 16_000;
/** Phrases of about 100 ms of work, and a first one of about half of that. */
const phraseLengths = { longest: 160, longestFirst: 48 };

export function createFliteEngine(name: string, settings: FliteEngineSettings, parts: { logger: Logger }): Engine {
  const workers = settings.workers ?? Math.min(availableParallelism(), 8);
  const pool = createWorkerPool({ workers, logger: parts.logger });
  if (settings.preload) pool.preload();
  const slots = new ConcurrencyLimit(`The engine ${JSON.stringify(name)}`, workers + settings.queue_limit);
  const model: SpeechModel = {
    givesMarks: true,
    voices: async () => fliteVoices,
    async *speak(call) {
      using _slot = slots.take(call.fairnessKey);
      yield* speak(pool, call);
    },
  };
  return {
    name,
    speech(id) {
      if (id === modelId) return model;
      throw noSuchModel(name, id, [modelId]);
    },
    listModels: async () => [{ id: modelId, created: 0, ownedBy: name }],
    close: () => pool.close(),
  };
}

function speak(pool: WorkerPool, call: SpeechCall): AsyncGenerator<SpeechPiece, void, undefined> {
  const readable = normalizeWhitespace(call.input);
  const voice = toVoiceName(call.voice);
  return synthesizePhrases(
    call,
    phrasesOf(readable, { ...phraseLengths, rewrite: readerOf(call.language ?? "en-US") }),
    {
      sampleRate: voiceRate,
      speakPhrase: (phrase, turn) => speakPhrase(pool, { readable, phrase, voice }, { call, ...turn }),
    },
  );
}

async function speakPhrase(
  pool: WorkerPool,
  { readable, phrase, voice }: { readable: string; phrase: Phrase; voice: FliteVoiceName },
  { call, signal, first }: { call: SpeechCall; signal: AbortSignal; first: boolean },
): Promise<SpeechPiece> {
  const ascii = asciiOf(rewritten(readable, phrase, phrase.rewrites));
  const stretch = 1 / call.speed;
  const { tokens, ...sound } = await pool.speak(
    { text: ascii.text, voice, stretch },
    { first, group: call.fairnessKey, signal },
  );
  const { samples, sampleRate, removed } = await toPhraseAudio(sound, {
    pause: phrase.pause / call.speed,
    gain: gainFor(voiceLevels[voice]),
    spoken: extentOf(tokens),
  });
  const end = samples.length / sampleRate;
  const marks = call.marks ? toMarks(ascii, movedForward(tokens, removed), end) : [];
  return { sampleRate, samples, marks, sentence: phrase.sentence };
}

function toVoiceName(voice: string): FliteVoiceName {
  const found = voiceNames.find((name) => name === voice);
  if (found !== undefined) return found;
  throw new AppError(
    "invalid_request",
    `voice is ${JSON.stringify(voice)}; expected one of ${voiceNames.map((name) => JSON.stringify(name)).join(", ")}.`,
    { param: "voice" },
  );
}
