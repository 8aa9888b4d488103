/** A Piper voice with real weights, as it is published, heard by Whisper. */
import assert from "node:assert/strict";
import { basename, dirname } from "node:path";
import { describe, test } from "node:test";
import { sentences } from "../../../../bench/transcription/sentences.ts";
import { countErrors, toWords } from "../../../../bench/transcription/word-errors.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";
import { realModels } from "../../../../test/support/real-models.ts";
import { joinSamples } from "../../src/audio/samples.ts";
import { createResampler } from "../../src/audio/resampler.ts";
import type { Engine, SpeechPiece, TranscribedWord } from "../../src/engines/engine.ts";
import { createSherpaOnnxEngine } from "../../src/engines/sherpa-onnx/engine.ts";
import { silentLogger } from "../../src/logger.ts";
import { piperTokensName } from "../../src/model-files/piper-voice.ts";
import { recordedAudio, segmentsOf, speechCall, transcriptionCall } from "./test-engine.ts";

const rate = 16_000;
const never = new AbortController().signal;

describe("a real Piper voice", { skip: needs("piper-joe", "whisper-tiny.en") }, () => {
  let engine: Engine;
  beforeTests(async (stack) => {
    const network = basename(realModels.voice);
    const models = {
      joe: {
        kind: "vits" as const,
        folder: dirname(realModels.voice),
        files: { model: network, tokens: piperTokensName(network) },
      },
      whisper: { kind: "whisper" as const, folder: realModels.whisper, files: {} },
    };
    const parts = { logger: silentLogger, dataDirectory: dirname(dirname(dirname(realModels.voice))) };
    engine = await createSherpaOnnxEngine("local", { type: "sherpa_onnx", models }, parts);
    stack.defer(() => engine.close());
  });

  const speak = async (input: string): Promise<SpeechPiece[]> => {
    const model = engine.speech!("joe")!;
    const [voice] = (await model.voices(never))!;
    return Array.fromAsync(model.speak(speechCall(input, { voice: voice!.name })));
  };

  const hear = async (pieces: readonly SpeechPiece[]): Promise<{ text: string; words: readonly TranscribedWord[] }> => {
    const resampler = await createResampler(pieces[0]!.sampleRate, rate);
    const samples = joinSamples([...pieces.map((piece) => resampler.push(piece.samples)), resampler.end()]);
    const call = transcriptionCall(recordedAudio(samples), { words: true });
    const segments = segmentsOf(await Array.fromAsync(engine.transcription!("whisper")!.transcribe(call)));
    return {
      text: segments.map(({ text }) => text).join(" "),
      words: segments.flatMap(({ words = [] }) => words),
    };
  };

  test("speaks a long text completely, in phrases that begin short", async () => {
    const text =
      "Well, the weather tomorrow is sunny and warm, with a light wind from the north. In the evening clouds come in from the sea. " +
      "On Sunday it will rain in most places, and the roads may be wet until the middle of the week. Please drive with care.";
    const pieces = await speak(text);
    const seconds = pieces.map(({ samples, sampleRate }) => samples.length / sampleRate);
    assert.ok(seconds[0]! < 4, `${seconds[0]} s`);
    assert.ok(pieces.length >= 4);
    const { errors, words } = countErrors(toWords(text), toWords((await hear(pieces)).text));
    assert.ok(errors <= 0.15 * words, `${errors} errors in ${words} words`);
  });

  test("reads numbers, dates and amounts", async () => {
    const { text } = await hear(await speak("On May 3rd 2025 at 10:30, 21 people paid $12.50."));
    const heard = text.toLowerCase();
    for (const expected of [
      /may (?:3|the third|third)/,
      /2025|twenty twenty/,
      /10[:. ]?30|ten thirty/,
      /21|twenty[ -]one/,
      /12[.,]50|twelve dollars/,
    ])
      assert.match(heard, expected);
  });

  test("says when each word is spoken, in the median within a tenth of a second of what Whisper hears", async () => {
    const differences: number[] = [];
    for (const sentence of sentences.slice(0, 6)) {
      const pieces = await speak(sentence);
      let offsetMs = 0;
      const marks: { text: string; startMs: number }[] = [];
      for (const { marks: own, samples, sampleRate } of pieces) {
        for (const { kind, offset, length, startMs } of own)
          if (kind === "word")
            marks.push({ text: sentence.slice(offset, offset + length), startMs: offsetMs + startMs });
        offsetMs += (samples.length / sampleRate) * 1000;
      }
      const { words } = await hear(pieces);
      const spoken = marks.flatMap(({ text }) => toWords(text));
      const heard = words.flatMap(({ text }) => toWords(text));
      for (const { reference, heard: place } of countErrors(spoken, heard).alike)
        differences.push(Math.abs(words[place]!.startMs - marks[reference]!.startMs));
    }
    assert.ok(differences.length >= 40, `${differences.length} words were recognized`);
    differences.sort((one, other) => one - other);
    assert.ok(differences[Math.floor(differences.length / 2)]! <= 100, differences.map(Math.round).join());
  });

  test("speaks no emoji, and nothing where nothing else is written", async () => {
    const [plain] = await speak("Great work!");
    const [withEmoji] = await speak("Great work 👍🏽!");
    const difference = Math.abs(withEmoji!.samples.length - plain!.samples.length) / plain!.sampleRate;
    assert.ok(difference < 0.5, `${difference} s`);
    const only = await speak("👍🏽 🎉");
    assert.ok(only.every(({ samples, sampleRate }) => samples.length / sampleRate < 1));
  });
});
