/** Cuts a recording into utterances: speech between pauses, short enough to decode as one. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { inBlocks } from "../../audio/blocks.ts";
import { SampleHistory } from "../../audio/sample-history.ts";
import { toInt16 } from "../../audio/samples.ts";
import { createVoiceDetector, type VoiceEvent } from "../../audio/voice-detector.ts";
import { modelRate } from "./protocol.ts";
import { UtteranceAudio } from "./utterance-audio.ts";

interface CutOptions {
  /** Sound kept before detected speech, in ms. */
  readonly prefixPaddingMs: number;
  /** Silence that ends an utterance, in ms, while it is short. */
  readonly silenceDurationMs: number;
}

/** The engine's default chunking. */
export const defaultChunking: CutOptions = { prefixPaddingMs: 300, silenceDurationMs: 1_000 };

/** Sound kept after the last that was detected: words fade out. */
const suffixPaddingMs = 300;
/** The shortest pause that the detector reports. */
const shortestPauseMs = 200;
/**
 * From this length on a shorter and shorter pause ends an utterance; at the last any place does. An utterance is what a
 * recognizer works on at a time: its length is how long other callers wait, and how late a stream gets its text.
 */
const longMs = 4_000;
const veryLongMs = 12_000;
const longestMs = 16_000;
/** Longer than the detector looks back for the beginning of speech. */
const lookBackMs = 1_500;
/** Samples per processing step: segment boundaries must not depend on the size of incoming pieces. */
const blockSamples = modelRate / 10;

/** Silence before speech that begins with the recording: without it, the recognizer takes its first sound for noise. */
const leadSamples = modelRate / 20;

const inSamples = (milliseconds: number): number => Math.round((milliseconds * modelRate) / 1000);
const inMs = (samples: number): number => (samples * 1000) / modelRate;

/**
 * Reads a recording at the model's rate and cuts it while it comes.
 * @param onUtterance called with each complete utterance; the reading waits for it
 */
export async function cutIntoUtterances(
  source: AsyncIterable<Float32Array>,
  { prefixPaddingMs, silenceDurationMs }: CutOptions,
  onUtterance: (audio: UtteranceAudio) => Promise<void>,
): Promise<void> {
  const detector = await createVoiceDetector({ sampleRate: modelRate, silenceDurationMs: shortestPauseMs });
  const past = new SampleHistory();
  const kept = inSamples(prefixPaddingMs + lookBackMs);
  let current: UtteranceAudio | undefined;
  /** Where speech stopped; undefined during speech. */
  let pauseStart: number | undefined;
  /** Speech before this sample belongs to an utterance that has ended. */
  let spokenUntil = 0;

  const begin = (sample: number): void => {
    const first = Math.max(sample, spokenUntil, past.first);
    const lead = first === 0 ? leadSamples : 0;
    current = new UtteranceAudio(first - lead);
    current.push(new Int16Array(lead));
    current.push(toInt16(past.slice(first, past.end)));
  };
  const end = async (speechEnd: number): Promise<void> => {
    const ended = current;
    spokenUntil = speechEnd;
    current = undefined;
    pauseStart = undefined;
    if (ended !== undefined) await onUtterance(ended);
  };
  const take = (event: VoiceEvent): void => {
    pauseStart = event.type === "end" ? event.sample : undefined;
    if (event.type === "start" && current === undefined) begin(event.sample - inSamples(prefixPaddingMs));
  };
  const endIfDue = async (): Promise<void> => {
    if (current === undefined) return;
    const lengthMs = inMs(past.end - current.firstSample);
    const pauseMs = pauseStart === undefined ? 0 : inMs(past.end - pauseStart);
    if (pauseStart !== undefined && pauseMs >= neededPauseMs(lengthMs, silenceDurationMs)) {
      await end(Math.min(pauseStart + inSamples(suffixPaddingMs), past.end));
    } else if (lengthMs >= longestMs) {
      await end(past.end);
      begin(past.end);
    }
  };

  for await (const block of inBlocks(source, blockSamples)) {
    past.forgetBefore(past.end - kept);
    past.push(block);
    current?.push(toInt16(block));
    for (const event of detector.push(block)) take(event);
    await endIfDue();
    await nextTurn();
  }
  for (const event of detector.end()) take(event);
  await end(past.end);
}

function neededPauseMs(lengthMs: number, silenceDurationMs: number): number {
  if (lengthMs < longMs) return silenceDurationMs;
  const share = Math.min((lengthMs - longMs) / (veryLongMs - longMs), 1);
  return silenceDurationMs + share * Math.min(shortestPauseMs - silenceDurationMs, 0);
}
