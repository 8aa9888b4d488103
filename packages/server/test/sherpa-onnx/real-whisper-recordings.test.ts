/** Whisper with real weights on five minutes of people who read: it must be as right as faster-whisper. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { longRecording, readRecordings } from "../../../../bench/transcription/recordings.ts";
import { countErrors, toWords } from "../../../../bench/transcription/word-errors.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";
import { realModels } from "../../../../test/support/real-models.ts";
import { noRecordedSpeakers, recordedSpeakers } from "../../../../test/support/recorded-speakers.ts";
import type { Engine } from "../../src/engines/engine.ts";
import { createSherpaOnnxEngine } from "../../src/engines/sherpa-onnx/engine.ts";
import { silentLogger } from "../../src/logger.ts";
import { recordedAudio, segmentsOf, transcriptionCall } from "./test-engine.ts";

/** Of faster-whisper with tiny.en, greedy, on such a recording (`bench/README.md`). */
const referenceShare = 0.032;

describe("Whisper", { skip: needs("whisper-tiny.en") || noRecordedSpeakers }, () => {
  let engine: Engine;
  beforeTests(async (stack) => {
    const models = { whisper: { kind: "whisper" as const, folder: realModels.whisper, files: {}, processes: 2 } };
    const parts = { logger: silentLogger, dataDirectory: "/nowhere" };
    engine = await createSherpaOnnxEngine("local", { type: "sherpa_onnx", models }, parts);
    stack.defer(() => engine.close());
  });

  test("transcribes five minutes with at most one word in a hundred more wrong than faster-whisper", async () => {
    const { samples, text } = longRecording(await readRecordings(recordedSpeakers), 5);
    const call = transcriptionCall(recordedAudio(samples));
    const segments = segmentsOf(await Array.fromAsync(engine.transcription!("whisper")!.transcribe(call)));
    const heard = toWords(segments.map((segment) => segment.text).join(" "));
    const { errors, words } = countErrors(toWords(text), heard);
    assert.ok(errors <= (referenceShare + 0.01) * words, `${errors} errors in ${words} words: ${heard.join(" ")}`);
    // No sentence is left out: a gap in the text is no longer than the pauses.
    const times = segments.flatMap((segment) => segment.words ?? []);
    for (const [index, { startMs }] of times.entries())
      assert.ok(startMs - (times[index - 1]?.endMs ?? 0) < 3_000, `nothing before ${startMs} ms`);
  });
});
