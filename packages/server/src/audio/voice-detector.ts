/**
 * Distinguishes speech from silence and noise: WebRTC's voice activity detector, as WebAssembly, with a second condition and
 * hysteresis of our own. https://github.com/dpirch/libfvad
 *
 * WebRTC's takes loud steady noise and tones for voice. Speech moves: within half a second its level rises and falls by
 * far more than 6 dB, theirs does not.
 * docs/adr/0017-transcription.md
 */
import loadFvad from "@echogarden/fvad-wasm";

import { AppError } from "../errors.ts";
import { createResampler } from "./resampler.ts";
import type { SampleStream } from "./sample-stream.ts";
import { joinSamples, toInt16 } from "./samples.ts";
import { ownNativeObject } from "./webassembly-memory.ts";

/** Places are counted in samples of the input, and lie before the moment that they were noticed. */
export type VoiceEvent =
  /** Speech began, or stopped. */
  | { readonly type: "start" | "end"; readonly sample: number }
  /** Speech continues after a pause from `sample` to `until`. */
  | { readonly type: "pause"; readonly sample: number; readonly until: number };

export interface VoiceDetector {
  /** Takes the next mono samples and returns what changed. */
  push(samples: Float32Array): VoiceEvent[];
  /** Ends current speech. */
  end(): VoiceEvent[];
}

interface VoiceOptions {
  readonly sampleRate: number;
  /** Silence that ends speech, in ms. Less than 200 counts as 200: shorter gaps are inside words. */
  readonly silenceDurationMs: number;
  /** Shortest silence within speech that is reported as a pause, in ms; undefined: none is. */
  readonly pauseDurationMs?: number | undefined;
}

const detectorRate = 16_000;
const frameMs = 20;
const frameLength = (detectorRate * frameMs) / 1000;
/** Most careful of the four modes: fewest false alarms. */
const mode = 3;

const shortestSilenceMs = 200;
/** Frames over which the level must move, and by how much. */
const levelFrames = 25;
const levelRangeDb = 6;
/** A filter of one pole, before the level is measured. */
const highPass = 0.92;
/** Frames of a sound's onset, which do not count for its movement. */
const onsetFrames = 3;
/** Speech starts when this many of the last frames had voice. */
const startWindow = 15;
const startVoiced = 7;
/** It continues when this many of the last few had. */
const stayWindow = 5;
const stayVoiced = 3;
/** Frames of silence that separate two sounds. */
const gapFrames = 8;
/**
 * A short sound, such as "no", is speech if so many of its frames had voice, and the level of its loud frames, those within
 * `loudDb` of the loudest, moved so far: less than speech that goes on does, since a syllable is nearly steady.
 */
const shortVoiced = 8;
const shortRangeDb = 3;
const loudDb = 12;
/** How far back, in frames, the beginning of a sound that turned out to be speech may lie. */
const longestOnset = 50;

type Fvad = Awaited<ReturnType<typeof loadFvad>>;
let loaded: Promise<Fvad> | undefined;

/** A detector for samples at any rate that the resampler takes. */
export async function createVoiceDetector(options: VoiceOptions): Promise<VoiceDetector> {
  const { sampleRate, silenceDurationMs, pauseDurationMs = Infinity } = options;
  loaded ??= loadFvad();
  const resampler = await createResampler(sampleRate, detectorRate);
  const framesOf = (durationMs: number): number => Math.ceil(Math.max(durationMs, shortestSilenceMs) / frameMs);
  const decide = createDecision({ silence: framesOf(silenceDurationMs), pause: framesOf(pauseDurationMs) });
  return start(await loaded, resampler, { sampleRate, decide });
}

interface FrameSound {
  /** The result of WebRTC's detector. */
  readonly isVoice: boolean;
  readonly levelDb: number;
}

type Change =
  | { readonly type: "start" | "end"; readonly frame: number }
  | { readonly type: "pause"; readonly frame: number; readonly until: number };
type Decide = (frame: FrameSound | null) => Change[];

function start(
  fvad: Fvad,
  resampler: SampleStream,
  { sampleRate, decide }: { sampleRate: number; decide: Decide },
): VoiceDetector {
  const native = fvad._fvad_new();
  const buffer = fvad._malloc(frameLength * 2);
  if (native === 0 || buffer === 0) {
    throw new AppError("overloaded", "There is not enough memory to detect speech. Retry later.");
  }
  fvad._fvad_set_mode(native, mode);
  fvad._fvad_set_sample_rate(native, detectorRate);
  let waiting: Float32Array = new Float32Array(0);
  let taken = 0;

  const sampleOf = (frame: number): number =>
    Math.min(taken, Math.round((frame * frameLength * sampleRate) / detectorRate));
  const toEvent = (change: Change): VoiceEvent => {
    const sample = sampleOf(change.frame);
    return change.type === "pause"
      ? { type: change.type, sample, until: sampleOf(change.until) }
      : { type: change.type, sample };
  };
  const listen = (samples: Float32Array): VoiceEvent[] => {
    waiting = joinSamples([waiting, samples]);
    const events: VoiceEvent[] = [];
    let position = 0;
    for (; position + frameLength <= waiting.length; position += frameLength) {
      const frame = waiting.subarray(position, position + frameLength);
      fvad.HEAP16.set(toInt16(frame), buffer / 2);
      const isVoice = fvad._fvad_process(native, buffer, frameLength) === 1;
      events.push(...decide({ isVoice, levelDb: levelOf(frame) }).map(toEvent));
    }
    waiting = waiting.slice(position);
    return events;
  };

  const detector: VoiceDetector = {
    push(samples) {
      taken += samples.length;
      return listen(resampler.push(samples));
    },
    end() {
      const events = listen(resampler.end());
      owned.free();
      return [...events, ...decide(null).map(toEvent)];
    },
  };
  const owned = ownNativeObject(detector, native, (pointer) => {
    fvad._fvad_free(pointer);
    fvad._free(buffer);
  });
  return detector;
}

/** The level above about 200 Hz: rumble, which wavers, counts little in it. */
function levelOf(frame: Float32Array): number {
  let energy = 0;
  let previous = frame[0] ?? 0;
  let filtered = 0;
  for (const sample of frame) {
    filtered = highPass * (filtered + sample - previous);
    previous = sample;
    energy += filtered * filtered;
  }
  return 10 * Math.log10(energy / frame.length + 1e-9);
}

/** Frames to changes, in frames from the beginning; null for the end of all frames. */
function createDecision(least: { readonly silence: number; readonly pause: number }): Decide {
  let count = 0;
  /** The first frame of the current sound, null in silence. */
  let soundStart: number | null = null;
  let lastSound = -Infinity;
  /** The levels of the current sound's frames with voice. */
  const voicedLevels: number[] = [];
  const levels: number[] = [];
  const voiced: boolean[] = [];
  let speaking = false;
  let speechEnd = 0;

  const follow = ({ isVoice, levelDb }: FrameSound): void => {
    if (!speaking && count - lastSound > gapFrames) soundStart = null;
    if (isVoice) {
      if (soundStart === null) voicedLevels.length = 0;
      soundStart ??= count;
      lastSound = count;
      if (voicedLevels.length < longestOnset) voicedLevels.push(levelDb);
    }
    if (soundStart === null || count - soundStart < onsetFrames) levels.length = 0;
    else levels.push(levelDb);
    if (levels.length > levelFrames) levels.shift();
    const moves = Math.max(...levels) - Math.min(...levels) >= levelRangeDb;
    voiced.push(isVoice && moves);
    if (voiced.length > startWindow) voiced.shift();
  };
  const reset = (): void => {
    speaking = false;
    soundStart = null;
    voiced.length = 0;
    levels.length = 0;
  };

  /** Whether the sound that just ended was a short one of speech. */
  const wasWord = (): boolean => {
    if (soundStart === null || voicedLevels.length < shortVoiced) return false;
    const afterOnset = voicedLevels.slice(onsetFrames);
    const loud = afterOnset.filter((level) => level >= Math.max(...afterOnset) - loudDb);
    return loud.length >= shortVoiced - onsetFrames && Math.max(...loud) - Math.min(...loud) >= shortRangeDb;
  };
  const beginWord = (): Change => {
    speaking = true;
    speechEnd = lastSound + 1;
    return { type: "start", frame: soundStart! };
  };

  return (frame) => {
    if (frame === null) {
      const begun = !speaking && wasWord() ? [beginWord()] : [];
      return speaking ? [...begun, { type: "end", frame: speechEnd }] : [];
    }
    if (!speaking && count - lastSound === gapFrames && wasWord()) return [beginWord(), ...decideFrame(frame)];
    return decideFrame(frame);
  };

  function decideFrame(frame: FrameSound): Change[] {
    follow(frame);
    count += 1;
    if (speaking) {
      if (voicedAmong(voiced, stayWindow) >= stayVoiced) {
        const isPause = count - speechEnd >= least.pause;
        const pause = { type: "pause", frame: speechEnd, until: Math.max(speechEnd, count - stayWindow) } as const;
        speechEnd = count;
        return isPause ? [pause] : [];
      }
      if (count - speechEnd < least.silence) return [];
      reset();
      return [{ type: "end", frame: speechEnd }];
    }
    if (voicedAmong(voiced, startWindow) < startVoiced) return [];
    speaking = true;
    speechEnd = count;
    return [{ type: "start", frame: Math.max(soundStart ?? 0, count - longestOnset) }];
  }
}

function voicedAmong(voiced: readonly boolean[], last: number): number {
  return voiced.slice(-last).filter(Boolean).length;
}
