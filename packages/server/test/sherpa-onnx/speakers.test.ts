/** Speaker diarization: pyannote's segmentation, embeddings and our own clustering, with the real library and tiny models. */
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startServer } from "../../../../test/support/running-server.ts";
import { encodeWav } from "../../src/audio/wav-encoder.ts";
import type { TranscribedDelta, TranscribedSegment, TranscriptionCall } from "../../src/engines/engine.ts";
import { SpeakerRegistry } from "../../src/engines/sherpa-onnx/speaker-registry.ts";
import { recording, recordingRate, sentence, silence } from "./spoken-tones.ts";
import { recordedAudio, startTestEngine, transcriptionCall, type TestEngine } from "./test-engine.ts";
import { writeTinyRecognizer } from "./tiny-recognizer.ts";
import { spokenBy, writeTinySpeakers } from "./tiny-speakers.ts";

const speakers = { segmentation: "tiny/segmentation.onnx", embedding: "tiny/embedding.onnx", threshold: 0.5 };

function start(
  kind: "transducer" | "streaming_transducer",
  change: (folder: string) => Promise<void> = async () => {},
): Promise<TestEngine> {
  // The recognizer's files have their usual names, with the speakers' files next to them.
  return startTestEngine({ kind, speakers }, async (folder) => {
    await writeTinyRecognizer(folder, kind);
    await writeTinySpeakers(folder);
    await change(folder);
  });
}

async function told(
  { engine }: TestEngine,
  samples: Float32Array,
  changes: Partial<TranscriptionCall> = {},
): Promise<[string, TranscribedSegment["speaker"]][]> {
  const call = transcriptionCall(recordedAudio(samples), changes);
  const transcribed: (TranscribedDelta | TranscribedSegment)[] = await Array.fromAsync(
    engine.transcription!("tiny")!.transcribe(call),
  );
  return transcribed
    .filter((each) => each.kind === "segment")
    .map(({ text, speaker }): [string, TranscribedSegment["speaker"]] => [text, speaker]);
}

describe("speaker diarization", () => {
  test("numbers speakers in the order in which they are heard, and recognizes them again", async () => {
    const samples = recording(
      silence(0.5),
      spokenBy(1, sentence("▁one", "▁two")),
      silence(1.5),
      spokenBy(0, sentence("▁three", "▁one")),
      silence(1.5),
      spokenBy(2, sentence("▁two", "s")),
      silence(1.5),
      spokenBy(1, sentence("▁two", "▁one")),
      silence(1.5),
    );
    const expected = [
      ["one two", 0],
      ["three one", 1],
      ["twos", 2],
      ["two one", 0],
    ];
    for (const kind of ["transducer", "streaming_transducer"] as const) {
      await using recognizer = await start(kind);
      assert.deepEqual(await told(recognizer, samples), expected, kind);
      // Every recording starts from the beginning.
      assert.deepEqual((await told(recognizer, samples.slice(samples.length / 2)))[0]?.[1], 0, kind);
    }
  });

  test("splits speech without a pause when the speaker changes", async () => {
    await using recognizer = await start("transducer");
    const samples = recording(
      silence(0.5),
      spokenBy(0, sentence("▁one", "▁two")),
      spokenBy(1, sentence("▁three", "▁one")),
      spokenBy(0, sentence("▁two", "▁three")),
      silence(1.5),
    );
    assert.deepEqual(await told(recognizer, samples), [
      ["one two", 0],
      ["three one", 1],
      ["two three", 0],
    ]);
  });

  test("reports a voice that no model hears as unknown", async () => {
    for (const kind of ["transducer", "streaming_transducer"] as const) {
      await using recognizer = await start(kind);
      const samples = recording(silence(0.5), sentence("▁one", "▁two"), silence(1.5));
      assert.deepEqual(await told(recognizer, samples), [["one two", "unknown"]], kind);
    }
  });

  test("sends the same deltas as without speakers", async () => {
    await using recognizer = await start("streaming_transducer");
    const samples = recording(silence(0.5), spokenBy(0, sentence("▁one", "▁two")), silence(1.5));
    const call = transcriptionCall(recordedAudio(samples), { partials: true });
    const all = await Array.fromAsync(recognizer.engine.transcription!("tiny")!.transcribe(call));
    const deltas = all.filter((each) => each.kind === "delta");
    assert.equal(deltas.map(({ text }) => text).join(""), "one two");
    assert.ok(deltas.length >= 2);
  });

  test("says which model of its speakers is missing or invalid", async () => {
    await using without = await start("transducer", (folder) => rm(join(folder, "embedding.onnx")));
    assert.match(without.engine.problemOf!("tiny")!.message, /speakers\.embedding, embedding\.onnx, does not exist/);
    await using wrong = await start("transducer", (folder) => writeFile(join(folder, "segmentation.onnx"), "no model"));
    assert.match(wrong.engine.problemOf!("tiny")!.message, /segmentation\.onnx is not an ONNX file/);
  });

  test("compares voices by their direction, and reports one without it as unknown", () => {
    const apart = new SpeakerRegistry(0.3);
    assert.equal(apart.identify(Float32Array.of(1, 0, 0)), 0);
    assert.equal(apart.identify(Float32Array.of(0, 5, 0)), 1);
    assert.equal(apart.identify(Float32Array.of(7, 1, 0)), 0);
    assert.equal(apart.identify(Float32Array.of(0.1, 1, 0.2)), 1);
    for (const voice of [undefined, Float32Array.of(0, 0, 0), Float32Array.of(Number.NaN, 1, 0)]) {
      assert.equal(apart.identify(voice), "unknown");
    }
    assert.equal(apart.identify(Float32Array.of(0, 0, -1)), 2);
  });

  test("is done by every recognizer of the models' directory while the models for it are there", async () => {
    await using server = await startServer();
    const inModels = (name: string): string => join(server.dataDirectory, "models", name);
    const engines = async (): Promise<string> => (await server.call("/v1/models")).text();
    await writeTinySpeakers(inModels("voices"));
    await writeTinyRecognizer(inModels("tiny-recognizer"), "transducer");
    while (!(await engines()).includes('"tiny-recognizer"')) await delay(20);
    const samples = recording(
      silence(0.5),
      spokenBy(1, sentence("▁one", "▁two")),
      silence(1.5),
      spokenBy(0, sentence("▁three", "▁one")),
      silence(1),
    );
    const speakersTold = async (): Promise<unknown[]> => {
      const form = new FormData();
      form.set("model", "tiny-recognizer");
      form.set("response_format", "verbose_json");
      form.set("file", new Blob([Buffer.from(encodeWav(samples, recordingRate))]), "tones.wav");
      const headers = { authorization: `Bearer ${server.key}` };
      const response = await fetch(`${server.url}/v1/audio/transcriptions`, { method: "POST", headers, body: form });
      const { segments } = (await response.json()) as { segments: { speaker_id?: string }[] };
      return segments.map(({ speaker_id: speaker }) => speaker);
    };
    assert.deepEqual(await speakersTold(), ["Guest-1", "Guest-2"]);
    await rm(inModels("voices/embedding.onnx"));
    while ((await speakersTold())[0] !== undefined) await delay(20);
  });
});
