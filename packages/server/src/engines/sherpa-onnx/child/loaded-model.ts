/** Runs a loaded model with sherpa-onnx, one piece of work at a time. */
import sherpaOnnx, { type OnlineStream } from "sherpa-onnx-node";
import addon from "sherpa-onnx-node/addon.js";
import { loudnessOf } from "../../../audio/loudness.ts";
import { joinSamples } from "../../../audio/samples.ts";
import type {
  StreamRecognition,
  LoadSettings,
  PhraseWork,
  Recognition,
  SpokenPhrase,
  StreamWork,
  SegmentWork,
  Utterance,
  Work,
  WorkResults,
} from "../protocol.ts";
import { readResult } from "./read-result.ts";
import { createDiarizer } from "./speaker-turns.ts";

export interface LoadedModel {
  run(work: Work): WorkResults[Work["type"]];
  forget(stream: number): void;
}

const sampleRate = 16_000;

/** Loads the model. A model that the library does not like may end the process. */
export function loadModel(settings: LoadSettings): LoadedModel {
  const model = modelFor(settings);
  if (settings.speakers === undefined) return model;
  const findTurns = createDiarizer(settings.speakers);
  return { ...model, run: (work) => (work.type === "diarize" ? findTurns(work.samples) : model.run(work)) };
}

function modelFor(settings: LoadSettings): LoadedModel {
  switch (settings.task) {
    case "speech":
      return speechModel(settings);
    case "segments":
      return stretchModel(settings);
    case "streams":
      return streamModel(settings);
  }
}

function wrongWork(): never {
  throw new Error("The model does not support this task.");
}

function speechModel({ config }: LoadSettings): LoadedModel {
  const tts = new sherpaOnnx.OfflineTts(config);
  const { silenceScale } = config as { silenceScale: number };
  const speak = ({ text, speaker, speed }: PhraseWork): SpokenPhrase => {
    const generationConfig = { sid: speaker, speed, silenceScale };
    try {
      const { samples, sampleRate } = tts.generate({ text, enableExternalBuffer: false, generationConfig });
      return { samples, sampleRate, loudness: loudnessOf(samples, sampleRate) };
    } catch (error) {
      // Only a text without anything to speak causes this error.
      if (!(error instanceof Error && error.message === "TTS generation failed")) throw error;
      return { samples: new Float32Array(0), sampleRate: tts.sampleRate, loudness: -Infinity };
    }
  };
  return { run: (work) => (work.type === "speak" ? speak(work) : wrongWork()), forget: () => {} };
}

/** Whisper processes 30 s, and the library somewhat less; silence fills no more than that. */
const longestPadded = 29.4;

function stretchModel({ config, languageSetting, silenceSeconds = 0 }: LoadSettings): LoadedModel {
  const recognizer = new sherpaOnnx.OfflineRecognizer(config);
  let language: string | undefined;
  const setLanguage = (wanted: string | undefined): void => {
    if (languageSetting === undefined || wanted === language) return;
    const { modelConfig } = config as { modelConfig: Record<string, object> };
    const ofKind = { ...modelConfig[languageSetting], language: wanted ?? "" };
    recognizer.setConfig({ ...config, modelConfig: { ...modelConfig, [languageSetting]: ofKind } });
    language = wanted;
  };
  const padded = (samples: Float32Array): Float32Array => {
    const seconds = Math.min(silenceSeconds, longestPadded - samples.length / sampleRate);
    return seconds > 0 ? joinSamples([samples, new Float32Array(Math.round(seconds * sampleRate))]) : samples;
  };
  const transcribe = (work: SegmentWork): Recognition => {
    setLanguage(work.language);
    const stream = recognizer.createStream();
    const samples = padded(work.samples);
    stream.acceptWaveform({ samples, sampleRate });
    recognizer.decode(stream);
    return readResult(addon.getOfflineStreamResultAsJson(stream.handle), samples.length / sampleRate);
  };
  return { run: (work) => (work.type === "transcribe" ? transcribe(work) : wrongWork()), forget: () => {} };
}

/** Seconds of silence after the end, so that a model sees the last words completely. */
const tailPadding = 0.66;
/** An utterance of this length ends at the next short pause, or where it is twice that long; seconds. */
const longUtterance = 20;
const shortPause = 0.2;
/** Seconds that a model processes at a time if its file does not specify them. */
const usualChunk = 0.32;

interface Listening {
  readonly stream: OnlineStream;
  /** Seconds of audio that the model has decoded. */
  heard: number;
}

function streamModel({ config, chunkSeconds }: LoadSettings): LoadedModel {
  const recognizer = new sherpaOnnx.OnlineRecognizer(config);
  const streams = new Map<number, Listening>();

  const decode = (listening: Listening): Utterance => {
    const { stream } = listening;
    for (; recognizer.isReady(stream); listening.heard += chunkSeconds ?? usualChunk) recognizer.decode(stream);
    return readResult(addon.getOnlineStreamResultAsJson(recognizer.handle, stream.handle));
  };
  const listen = ({ stream: id, samples, last, silenceMs }: StreamWork): StreamRecognition => {
    const listening = streams.get(id) ?? { stream: recognizer.createStream(), heard: 0 };
    streams.set(id, listening);
    const { stream } = listening;
    if (samples.length > 0) stream.acceptWaveform({ samples, sampleRate });
    if (last) {
      stream.acceptWaveform({ samples: new Float32Array(tailPadding * sampleRate), sampleRate });
      stream.inputFinished();
    }
    const utterance = decode(listening);
    if (last) streams.delete(id);
    const ended = last || isOver(utterance, listening.heard, silenceMs / 1000);
    if (ended && !last) recognizer.reset(stream);
    return { utterance, ended };
  };
  return {
    run: (work) => (work.type === "listen" ? listen(work) : wrongWork()),
    forget: (stream) => void streams.delete(stream),
  };
}

/** Whether an utterance has ended, given the decoded seconds. */
function isOver({ tokens, startTimes, origin }: Utterance, heardUntil: number, silence: number): boolean {
  const lastToken = startTimes.at(-1);
  if (tokens.length === 0 || lastToken === undefined) return false;
  const pause = heardUntil - origin - lastToken;
  const length = heardUntil - origin - (startTimes[0] ?? 0);
  return pause >= silence || (length >= longUtterance && pause >= shortPause) || length >= 2 * longUtterance;
}
