/** Calls a speech model of an OpenAI-compatible API. https://platform.openai.com/docs/api-reference/audio/createSpeech */
import { joinSamples } from "../../audio/samples.ts";
import { AppError } from "../../errors.ts";
import type { SpeechCall, SpeechModel, SpeechPiece } from "../engine.ts";
import { estimateMarks } from "../spoken-text/estimate-marks.ts";
import { phrasesOf, sentenceGroups, type Phrase } from "../spoken-text/phrases.ts";
import { normalizeWhitespace } from "../spoken-text/sentences.ts";
import { asWritten } from "../spoken-text/spoken-text.ts";
import { streamBytes } from "../upstream-http/byte-stream.ts";
import type { ConnectionPool } from "../upstream-http/connection-pool.ts";
import type { Endpoint } from "./endpoint.ts";
import type { OutgoingRequest } from "../upstream-http/upstream-request.ts";
import { readPcm, type PcmChunk } from "./pcm-reader.ts";
import { refuseGiven } from "./request-body.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";

export interface OpenAiSpeechModelOptions {
  /** The name under which routing knows the model. */
  readonly model: string;
  readonly endpoint: Endpoint;
  readonly pool: ConnectionPool;
  readonly limits: TimeLimits;
  readonly unsupportedParameters: readonly string[];
}

/** OpenAI takes 4 096 characters in one request. */
const longestInput = 4_000;
/** Word times are estimated in each phrase, so phrases are synthesized one by one if word times are requested. */
const phraseLengths = { longest: 300, longestFirst: 120 };

/** The engine checks the voice's name; word times are estimated. */
export function createOpenAiSpeechModel(options: OpenAiSpeechModelOptions): SpeechModel {
  return {
    givesMarks: true,
    voices: async () => undefined,
    async *speak(call) {
      refuseGiven(
        { speed: call.speed === 1 ? undefined : call.speed, instructions: call.instructions },
        options.unsupportedParameters,
      );
      const readable = normalizeWhitespace(call.input);
      if (readable.trim() === "") throw nothingToSay();
      if (call.marks) yield* speakPhrases(readable, call, options);
      else yield* speakGroups(readable, call, options);
    },
  };
}

async function* speakGroups(
  readable: string,
  call: SpeechCall,
  options: OpenAiSpeechModelOptions,
): AsyncGenerator<SpeechPiece, void, undefined> {
  for (const { offset, length } of sentenceGroups(readable, longestInput, call.language)) {
    const bytes = streamBytes(options.pool, toRequest(readable.slice(offset, offset + length), call, options));
    for await (const sound of readPcm(bytes)) yield { ...sound, marks: [], sentence: undefined };
  }
}

async function* speakPhrases(
  readable: string,
  call: SpeechCall,
  options: OpenAiSpeechModelOptions,
): AsyncGenerator<SpeechPiece, void, undefined> {
  for (const phrase of phrasesOf(readable, { ...phraseLengths, language: call.language })) {
    const text = readable.slice(phrase.offset, phrase.offset + phrase.length);
    const sounds = await Array.fromAsync(readPcm(streamBytes(options.pool, toRequest(text, call, options))));
    const sampleRate = sounds[0]?.sampleRate;
    if (sampleRate !== undefined)
      yield marked(readable, phrase, { sampleRate, samples: joinSamples(sounds.map((each) => each.samples)) });
  }
}

function marked(readable: string, phrase: Phrase, sound: PcmChunk): SpeechPiece {
  return { ...sound, marks: estimateMarks(asWritten(readable, phrase), sound), sentence: phrase.sentence };
}

function toRequest(input: string, call: SpeechCall, options: OpenAiSpeechModelOptions): OutgoingRequest {
  const { endpoint, model, limits } = options;
  const { voice, speed, instructions, requestId, signal } = call;
  const body = { model: endpoint.wireModel(model), input, voice, response_format: "pcm", speed, instructions };
  const bytes = Buffer.from(JSON.stringify(speed === 1 ? { ...body, speed: undefined } : body));
  const id = requestId === undefined ? [] : ["x-request-id", requestId];
  return {
    method: "POST",
    path: endpoint.speechPath(model),
    headers: ["content-type", "application/json", ...endpoint.headers, "accept", "audio/pcm, audio/*", ...id],
    body: { pieces: [bytes], byteLength: bytes.length },
    signal,
    limits,
    isStream: true,
  };
}

function nothingToSay(): AppError {
  return new AppError("invalid_request", "input contains nothing to speak; it must contain at least one word.", {
    param: "input",
  });
}
