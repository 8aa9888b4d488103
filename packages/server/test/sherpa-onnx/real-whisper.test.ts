/**
 * Whisper with real weights: set SOUNDING_TEST_WHISPER to the folder of a model in sherpa-onnx's format, such as
 * `tiny.en`. The recordings are spoken by the bundled voices.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { countErrors, toWords } from "../../../../bench/transcription/word-errors.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { joinSamples } from "../../src/audio/samples.ts";
import { silentLogger } from "../../src/logger.ts";
import type { Engine, TranscribedSegment, TranscriptionCall } from "../../src/engines/engine.ts";
import { createSherpaOnnxEngine } from "../../src/engines/sherpa-onnx/engine.ts";
import { speak } from "../pocketsphinx/spoken.ts";
import { recordedAudio, segmentsOf, transcriptionCall } from "./test-engine.ts";
import { silence } from "./spoken-tones.ts";

const folder = process.env["SOUNDING_TEST_WHISPER"];

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

describe(
  "Whisper",
  { skip: folder === undefined ? "runs only with SOUNDING_TEST_WHISPER=FOLDER: a model of 40 MB" : false },
  () => {
    let engine: Engine;
    /** All sentences, with pauses that do not end a segment. */
    let samples: Float32Array<ArrayBuffer>;
    beforeTests(async (stack) => {
      const models = { whisper: { kind: "whisper" as const, folder: folder!, files: {} } };
      const parts = { logger: silentLogger, dataDirectory: "/nowhere" };
      engine = await createSherpaOnnxEngine("local", { type: "sherpa_onnx", models }, parts);
      stack.defer(() => engine.close());
      const pieces: Float32Array[] = [];
      for (const [index, sentence] of sentences.entries()) {
        pieces.push((await speak(sentence, index % 4 < 2 ? "slt" : "rms")).samples, silence(0.2));
      }
      samples = joinSamples(pieces);
    });

    const transcribe = async (changes: Partial<TranscriptionCall>): Promise<TranscribedSegment[]> => {
      const model = engine.transcription!("whisper")!;
      const call = transcriptionCall(recordedAudio(samples), { words: model.givesWords, ...changes });
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

    test("transcribes every sentence of a long recording, in segments that come early", async () => {
      const segments = await transcribe({});
      assertComplete(segments, 0.2);
      assert.ok(segments[0]!.endMs <= 16_000, `the first segment ends at ${segments[0]!.endMs} ms`);
      for (const [index, { startMs, endMs, words = [] }] of segments.entries()) {
        assert.ok(startMs <= endMs && endMs <= (segments[index + 1]?.startMs ?? Infinity) + 1);
        for (const word of words) assert.ok(word.startMs >= startMs && word.endMs <= endMs);
      }
    });

    test("transcribes every sentence in segments as long as possible", async () => {
      assertComplete(await transcribe({ chunking: { prefixPaddingMs: 4_000, silenceDurationMs: 5_000 } }), 0.2);
    });

    test("finds English in a call that names no language", async () => {
      const segments = await transcribe({ language: undefined });
      assert.deepEqual(new Set(segments.map(({ language }) => language)), new Set(["en"]));
      assertComplete(segments, 0.2);
    });
  },
);
