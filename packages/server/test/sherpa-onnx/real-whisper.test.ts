/** Whisper with real weights, converted from CTranslate2's format. The recordings are spoken by the bundled voices. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { countErrors, toWords } from "../../../../bench/transcription/word-errors.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";
import { realModels } from "../../../../test/support/real-models.ts";
import { joinSamples } from "../../src/audio/samples.ts";
import { silentLogger } from "../../src/logger.ts";
import type { Engine, TranscribedSegment, TranscriptionCall } from "../../src/engines/engine.ts";
import { createSherpaOnnxEngine } from "../../src/engines/sherpa-onnx/engine.ts";
import { speak, type Spoken } from "../pocketsphinx/spoken.ts";
import { recordedAudio, segmentsOf, transcriptionCall } from "./test-engine.ts";
import { silence } from "./spoken-tones.ts";

const sentences = [
  "The train to the city leaves at nine in the morning.",
  "She put the letter on the table and went out of the house.",
  "We had a long talk about the price of bread and milk.",
  "The old man told the children a story about the sea.",
  "Please close the window before you leave the room.",
  "Most people in this country live near the coast.",
  "The company will open a new office in the north next year.",
  "He could not remember the name of the street.",
  "A good book is the best friend on a rainy day.",
  "The doctor said that she would be well again in a week.",
  "The water in the river is very cold in the winter.",
  "They walked through the park until it was dark.",
];

/** The same at each run. */
function seededNoise(length: number): Float32Array<ArrayBuffer> {
  let state = 1;
  return Float32Array.from({ length }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return 0.02 * ((2 * state) / 2 ** 31 - 1);
  });
}

describe("Whisper", { skip: needs("whisper-tiny.en") }, () => {
  let engine: Engine;
  /** All sentences, with pauses that do not end a segment. */
  let samples: Float32Array<ArrayBuffer>;
  /** Each sentence alone, with the times of its words. */
  const spoken: Spoken[] = [];
  beforeTests(async (stack) => {
    const models = { whisper: { kind: "whisper" as const, folder: realModels.whisper, files: {} } };
    const parts = { logger: silentLogger, dataDirectory: "/nowhere" };
    engine = await createSherpaOnnxEngine("local", { type: "sherpa_onnx", models }, parts);
    stack.defer(() => engine.close());
    const pieces: Float32Array[] = [];
    for (const [index, sentence] of sentences.entries()) {
      const one = await speak(sentence, index % 4 < 2 ? "slt" : "rms");
      spoken.push(one);
      pieces.push(one.samples, silence(0.2));
    }
    samples = joinSamples(pieces);
  });

  const transcribe = async (
    changes: Partial<TranscriptionCall>,
    audio: Float32Array<ArrayBuffer> = samples,
  ): Promise<TranscribedSegment[]> => {
    const model = engine.transcription!("whisper")!;
    const call = transcriptionCall(recordedAudio(audio), { words: model.givesWords, ...changes });
    return segmentsOf(await Array.fromAsync(model.transcribe(call)));
  };

  /** At most this share of words is wrong, and of no sentence are most words missing. */
  const assertComplete = (segments: readonly TranscribedSegment[], share: number): void => {
    const heard = toWords(segments.map(({ text }) => text).join(" "));
    const { errors, words, alike } = countErrors(toWords(sentences.join(" ")), heard);
    assert.ok(errors <= share * words, `${errors} errors in ${words} words: ${heard.join(" ")}`);
    let from = 0;
    for (const sentence of sentences) {
      const to = from + toWords(sentence).length;
      const found = alike.filter(({ reference }) => reference >= from && reference < to).length;
      assert.ok(found > (to - from) / 2, `${sentence} is missing: ${heard.join(" ")}`);
      from = to;
    }
  };

  test("streams every sentence of a long recording, in segments that come early", async () => {
    const segments = await transcribe({ partials: true });
    assertComplete(segments, 0.2);
    assert.ok(segments[0]!.endMs <= 16_000, `the first segment ends at ${segments[0]!.endMs} ms`);
    for (const [index, { startMs, endMs, words = [] }] of segments.entries()) {
      assert.ok(startMs <= endMs && endMs <= (segments[index + 1]?.startMs ?? Infinity) + 1);
      for (const word of words) assert.ok(word.startMs >= startMs && word.endMs <= endMs);
    }
  });

  test("transcribes every sentence of a long recording at once, in segments of whole sentences", async () => {
    const segments = await transcribe({});
    assertComplete(segments, 0.2);
    assert.ok(segments.length >= sentences.length / 2, `${segments.length} segments`);
    for (const [index, { startMs, endMs, words = [] }] of segments.entries()) {
      assert.ok(startMs <= endMs && endMs <= (segments[index + 1]?.startMs ?? Infinity) + 1);
      for (const word of words) assert.ok(word.startMs >= startMs && word.endMs <= endMs);
    }
  });

  test("transcribes every sentence in segments as long as possible", async () => {
    assertComplete(await transcribe({ chunking: { prefixPaddingMs: 4_000, silenceDurationMs: 5_000 } }), 0.2);
  });

  test("says when each word was spoken", async () => {
    for (const { samples: audio, words } of spoken.slice(0, 3)) {
      const heard = (await transcribe({}, audio)).flatMap((segment) => segment.words ?? []);
      assert.ok(Math.abs(heard.length - words.length) <= 1, heard.map(({ text }) => text).join(" "));
      // Of the words that both have at the same place; Whisper's are a tenth of a second early or late.
      const late = words.map(({ startMs }, index) => Math.abs((heard[index]?.startMs ?? startMs) - startMs));
      late.sort((one, other) => one - other);
      assert.ok(late[Math.floor(late.length / 2)]! <= 250, late.join());
    }
  });

  test("hears nothing in silence and in noise", async () => {
    const random = seededNoise(16_000 * 3);
    for (const audio of [silence(3), random]) {
      const heard = await transcribe({}, audio);
      assert.deepEqual(toWords(heard.map(({ text }) => text).join(" ")), []);
    }
  });

  test("gives four callers at a time what each would get alone", async () => {
    const { samples: audio } = spoken[6]!;
    const textOf = async (): Promise<string> => (await transcribe({}, audio)).map(({ text }) => text).join(" ");
    const alone = await textOf();
    assert.deepEqual(await Promise.all([1, 2, 3, 4].map(textOf)), [alone, alone, alone, alone]);
    assert.ok(countErrors(toWords(sentences[6]!), toWords(alone)).errors <= 2, alone);
  });
});
