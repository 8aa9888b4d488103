/** The engine `espeak`: speech in over 100 languages by the program espeak-ng, a process for each phrase. */
import { availableParallelism } from "node:os";
import { stretchSamples } from "../../audio/time-stretch.ts";
import type { EspeakEngineSettings } from "../../config/engines/espeak.ts";
import { AppError } from "../../errors.ts";
import type { Engine, SpeechCall, SpeechModel, SpeechPiece, Voice } from "../model.ts";
import { CallSlots } from "../spoken-text/call-slots.ts";
import { estimateMarks } from "../spoken-text/estimate-marks.ts";
import { phrasesOf, type Phrase } from "../spoken-text/phrases.ts";
import { toReadable } from "../spoken-text/sentences.ts";
import { speakPhrases } from "../spoken-text/speak-phrases.ts";
import { Turns } from "../spoken-text/turns.ts";
import { readSamples, run } from "./program.ts";
import { parseVoices } from "./voices.ts";

const modelId = "espeak-ng";
const phraseLengths = { longest: 300, longestFirst: 80 };
/** Words a minute of speed 1, and the speed below which the program does not become slower. */
const wordsPerMinute = 175;
const slowestSpeed = 0.5;
const programRate = 22_050;

export function createEspeakEngine(name: string, settings: EspeakEngineSettings): Engine {
  const processes = settings.processes ?? Math.min(availableParallelism(), 8);
  const slots = new CallSlots(name, processes + settings.queue_limit);
  const turns = new Turns(processes);
  const closing = new AbortController();
  let known: Voice[] | undefined;
  const voices = async (signal: AbortSignal): Promise<readonly Voice[]> => {
    const { program } = settings;
    known ??= parseVoices((await run({ program, operands: ["--voices"], input: "", signal })).toString());
    return known;
  };
  const model: SpeechModel = {
    givesMarks: true,
    voices,
    async *speak(call) {
      using _slot = slots.take();
      const signal = AbortSignal.any([call.signal, closing.signal]);
      yield* speak({ ...call, signal }, { program: settings.program, turns });
    },
  };
  return {
    name,
    speech(id) {
      if (id === modelId) return model;
      throw new AppError(
        "model_not_found",
        `The engine ${JSON.stringify(name)} has no model ${JSON.stringify(id)}; it has "${modelId}".`,
        { param: "model" },
      );
    },
    async listModels(signal) {
      await voices(signal);
      return [{ id: modelId, created: 0, ownedBy: name }];
    },
    async close() {
      closing.abort(new AppError("overloaded", "The speech engine is shutting down."));
    },
  };
}

interface Parts {
  readonly program: string;
  readonly turns: Turns;
}

function speak(call: SpeechCall, { program, turns }: Parts): AsyncGenerator<SpeechPiece, void, undefined> {
  const readable = toReadable(call.input);
  const phrases = phrasesOf(readable, { ...phraseLengths, language: call.voice.replace(/\+.*/, "") });
  return speakPhrases(call, phrases, {
    sampleRate: programRate,
    speakPhrase: (phrase, { signal }) =>
      turns.run(signal, () => speakPhrase(readable, phrase, { program, call: { ...call, signal } })),
  });
}

async function speakPhrase(
  readable: string,
  phrase: Phrase,
  { program, call }: { readonly program: string; readonly call: SpeechCall },
): Promise<SpeechPiece> {
  const { voice, speed, signal, marks } = call;
  const part = readable.slice(phrase.offset, phrase.offset + phrase.length);
  const ownSpeed = Math.max(speed, slowestSpeed);
  const operands = ["-v", voice, "-s", String(Math.round(wordsPerMinute * ownSpeed)), "--stdin", "-b", "1", "--stdout"];
  // Text in double brackets would be read as the names of sounds.
  const wav = await run({ program, operands, input: part.replaceAll("[[", "[ ["), signal });
  const { sampleRate, samples: spoken } = await readSamples(wav);
  const samples = await stretchSamples(spoken, sampleRate, speed / ownSpeed);
  const sound = { samples, sampleRate };
  return { ...sound, marks: marks ? estimateMarks(part, phrase.offset, sound) : [], sentence: phrase.sentence };
}
