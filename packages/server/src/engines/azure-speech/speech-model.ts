/** Synthesizes speech with Azure's voices, phrase by phrase over one WebSocket: only that API returns word boundaries. */
import type { Agent } from "undici";
import { fromInt16Bytes } from "../../audio/samples.ts";
import { stretchSamples, stretchedTime } from "../../audio/time-stretch.ts";
import { toAppError } from "../../errors.ts";
import type { SpeechCall, SpeechMark, SpeechModel, SpeechPiece } from "../engine.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";
import type { ConcurrencyLimit } from "../concurrency-limit.ts";
import { toMarks, type SpokenToken } from "../spoken-text/marks.ts";
import { phrasesOf, type Phrase } from "../spoken-text/phrases.ts";
import { graphemes } from "../spoken-text/segmenters.ts";
import { normalizeWhitespace } from "../spoken-text/sentences.ts";
import { synthesizePhrases } from "../spoken-text/synthesize-phrases.ts";
import { SpeechSocket } from "./speech-socket.ts";
import { toSsml } from "./ssml.ts";
import { sendSpeechConfig, synthesizeText, voiceRate, type SynthesizedText } from "./synthesize-text.ts";
import type { VoiceList } from "./voice-list.ts";

export interface AzureSpeechModelOptions {
  readonly url: string;
  readonly headers: readonly string[];
  readonly agent: Agent;
  readonly limits: TimeLimits;
  readonly maxAnswerBytes: number;
  readonly voices: VoiceList;
  readonly slots: ConcurrencyLimit;
  onCredentialsRefused(status: number): void;
}

/** Sentences up to this length are one phrase; the first phrase is shorter, so that audio starts soon. */
const phraseLengths = { longest: 400, longestFirst: 120 };
/** The rates that the service supports; time stretching does the rest. */
const slowestRate = 0.5;
const fastestRate = 2;

export function createAzureSpeechModel(options: AzureSpeechModelOptions): SpeechModel {
  return {
    givesMarks: true,
    voices: (signal) => options.voices.get(signal),
    async *speak(call) {
      using _slot = options.slots.take(call.fairnessKey);
      await using speaker = new Speaker(call, options);
      const readable = normalizeWhitespace(call.input);
      yield* synthesizePhrases(call, phrasesOf(readable, { ...phraseLengths, language: call.language }), {
        sampleRate: voiceRate,
        speakPhrase: (phrase, { signal }) => speaker.speak(readable, phrase, signal),
      });
    },
  };
}

/** One call. Its phrases follow one another, so one socket serves them all. */
class Speaker {
  readonly #call: SpeechCall;
  readonly #options: AzureSpeechModelOptions;
  #socket: SpeechSocket | undefined;

  constructor(call: SpeechCall, options: AzureSpeechModelOptions) {
    this.#call = call;
    this.#options = options;
  }

  async speak(readable: string, phrase: Phrase, signal: AbortSignal): Promise<SpeechPiece> {
    const { voice, language, speed, marks } = this.#call;
    const rate = Math.min(fastestRate, Math.max(slowestRate, speed));
    const text = readable.slice(phrase.offset, phrase.offset + phrase.length);
    const turn = await this.#turn(toSsml(text, { voice, language, rate }), signal);
    const rest = speed / rate;
    const samples = await stretchSamples(fromInt16Bytes(turn.pcm), voiceRate, rest);
    const endSeconds = samples.length / voiceRate;
    return {
      sampleRate: voiceRate,
      samples,
      marks: marks ? marksOf({ text, offset: phrase.offset }, stretched(turn.words, rest, endSeconds), endSeconds) : [],
      sentence: phrase.sentence,
    };
  }

  /** The service closes idle sockets, as when the caller is slow, and may do so at this moment. */
  async #turn(ssml: string, signal: AbortSignal): Promise<SynthesizedText> {
    const { limits, maxAnswerBytes } = this.#options;
    const turn = { ssml, words: this.#call.marks };
    const isUsed = this.#socket?.isOpen === true;
    const socket = await this.#connect(signal);
    const before = socket.receivedCount;
    try {
      return await synthesizeText(socket, turn, { ...limits, maxBytes: maxAnswerBytes });
    } catch (error) {
      const isUnheard = isUsed && socket.receivedCount === before;
      if (!isUnheard || toAppError(error).code !== "upstream_failed") throw error;
      return synthesizeText(await this.#connect(signal), turn, { ...limits, maxBytes: maxAnswerBytes });
    }
  }

  async #connect(signal: AbortSignal): Promise<SpeechSocket> {
    if (this.#socket?.isOpen === true) return this.#socket;
    const { url, headers, agent, limits, onCredentialsRefused } = this.#options;
    const { requestId } = this.#call;
    this.#socket = await SpeechSocket.open({
      url,
      headers: requestId === undefined ? headers : [...headers, "x-request-id", requestId],
      agent,
      connectTimeoutMs: limits.connectTimeoutMs,
      signal,
      onCredentialsRefused,
    });
    sendSpeechConfig(this.#socket);
    return this.#socket;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket?.leave();
  }
}

function stretched(words: readonly SpokenToken[], speed: number, endSeconds: number): SpokenToken[] {
  const timeOf = (seconds: number | undefined): number | undefined =>
    seconds === undefined ? undefined : Math.min(endSeconds, stretchedTime(seconds, speed));
  return words.map(({ text, start, end }) => ({ text, start: timeOf(start), end: timeOf(end) }));
}

/** The service returns the words in their order in the phrase. An emoji of several code points is one mark. */
function marksOf(
  { text, offset }: { text: string; offset: number },
  words: readonly SpokenToken[],
  endSeconds: number,
): SpeechMark[] {
  const characters = graphemes.segment(text);
  const source = (start: number, end: number) => {
    const from = characters.containing(start)?.index ?? start;
    const last = characters.containing(end - 1);
    return { offset: offset + from, length: (last === undefined ? end : last.index + last.segment.length) - from };
  };
  return toMarks({ text, source }, words, endSeconds);
}
