/** Transcription by sherpa-onnx, with the real library and tiny recognizers of every kind. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { TranscribedSegment } from "../../src/engines/engine.ts";
import { noise } from "../audio/signals.ts";
import { recording, recordingRate, sentence, silence, speech } from "./spoken-tones.ts";
import {
  modelProcesses,
  segmentsOf,
  startRecognizer,
  transcribe,
  transcriptionCall,
  until,
  type TestEngine,
} from "./test-engine.ts";
import type { TinyRecognizer } from "./tiny-recognizer.ts";

const shared = new Map<TinyRecognizer, Promise<TestEngine>>();

/** With default settings, for tests that leave its process as it is: started once, until `closeShared`. */
function sharedRecognizer(name: TinyRecognizer): Promise<TestEngine> {
  const recognizer = shared.get(name) ?? startRecognizer(name);
  shared.set(name, recognizer);
  return recognizer;
}

async function closeShared(): Promise<void> {
  for (const recognizer of shared.values()) await (await recognizer)[Symbol.asyncDispose]();
  shared.clear();
}

/** Two sentences, with their words if these are given in seconds. */
const twoSentences = {
  samples: recording(silence(1), sentence("▁one", "s", "▁two"), silence(2), sentence("▁three", "▁one"), silence(1.5)),
  texts: ["ones two", "three one"],
  words: [
    ["ones", 1.4],
    ["two", 2.4],
    ["three", 5.5],
    ["one", 6],
  ],
} as const;

function checkWords(segments: readonly TranscribedSegment[], expected: readonly (readonly [string, number])[]): void {
  const words = segments.flatMap((segment) => segment.words ?? []);
  assert.deepEqual(
    words.map(({ text }) => text),
    expected.map(([text]) => text),
  );
  for (const [index, { text, startMs, endMs }] of words.entries()) {
    assert.ok(Math.abs(startMs - expected[index]![1] * 1000) <= 80, `${text} at ${startMs}`);
    assert.ok(endMs > startMs && endMs <= (words[index + 1]?.startMs ?? Infinity), `${text} until ${endMs}`);
  }
}

describe("a model of sherpa-onnx", () => {
  after(closeShared);

  for (const kind of ["zipformer_ctc", "transducer", "nemo_ctc", "nemo_transducer", "sense_voice"] as const) {
    test(`a ${kind} model transcribes each segment of speech, with word times`, async () => {
      const recognizer = await sharedRecognizer(kind);
      const segments = segmentsOf(await transcribe(recognizer, twoSentences.samples));
      assert.deepEqual(
        segments.map(({ text }) => text),
        twoSentences.texts,
      );
      checkWords(segments, twoSentences.words);
      for (const { startMs, endMs, words } of segments) {
        assert.equal(startMs, words![0]!.startMs);
        assert.equal(endMs, words!.at(-1)!.endMs);
      }
    });
  }

  for (const kind of ["streaming_transducer", "streaming_zipformer_ctc"] as const) {
    test(`a ${kind} model streams text while it listens`, async () => {
      const recognizer = await sharedRecognizer(kind);
      const heard = await transcribe(recognizer, twoSentences.samples, { partials: true });
      const segments = segmentsOf(heard);
      assert.deepEqual(
        segments.map(({ text }) => text),
        twoSentences.texts,
      );
      checkWords(segments, twoSentences.words);
      let settled = "";
      let deltas = 0;
      for (const each of heard) {
        if (each.kind === "delta") {
          assert.notEqual(each.text, "");
          settled += each.text;
          deltas++;
        } else {
          assert.ok(each.text.startsWith(settled), `${each.text} after ${settled}`);
          settled = "";
        }
      }
      assert.ok(deltas >= 4, `${deltas} deltas`);
      assert.deepEqual(await transcribe(recognizer, twoSentences.samples), segments);
    });
  }

  for (const kind of ["whisper", "moonshine"] as const) {
    test(`a ${kind} model transcribes each segment of speech, without word times`, async () => {
      const recognizer = await sharedRecognizer(kind);
      assert.equal(recognizer.engine.transcription!("tiny")!.givesWords, false);
      const samples = recording(
        silence(1),
        sentence("▁one", "▁two", "s"),
        silence(2),
        sentence("▁three"),
        silence(1.5),
      );
      // Without streaming, Whisper gets both at once.
      const segments = segmentsOf(await transcribe(recognizer, samples, { words: false, partials: true }));
      assert.deepEqual(
        segments.map(({ text, words }) => [text, words]),
        [
          ["one twos", undefined],
          ["three", undefined],
        ],
      );
      const [first, second] = segments;
      assert.ok(first!.startMs <= 1_400 && first!.endMs >= 2_500 && first!.endMs < second!.startMs);
      assert.ok(second!.startMs <= 5_500 && second!.endMs >= 5_700);
    });
  }

  test("a transducer reports the confidence of its words, a CTC model does not", async () => {
    for (const kind of ["transducer", "streaming_transducer", "zipformer_ctc"] as const) {
      const recognizer = await sharedRecognizer(kind);
      for (const { words } of segmentsOf(await transcribe(recognizer, twoSentences.samples))) {
        for (const { confidence } of words!) {
          if (kind === "zipformer_ctc") assert.equal(confidence, undefined);
          else assert.ok(confidence !== undefined && confidence > 0.7 && confidence <= 1, `${kind}: ${confidence}`);
        }
      }
    }
  });

  test("deltas are sent while the recording is still uploaded", async () => {
    const recognizer = await sharedRecognizer("streaming_transducer");
    const samples = recording(silence(0.5), sentence("▁one", "▁two", "▁three"), silence(1));
    let given = 0;
    const audio = {
      sampleRate: recordingRate,
      async *open() {
        for (; given < samples.length; given += 1_600) yield samples.slice(given, given + 1_600);
      },
    };
    const model = recognizer.engine.transcription!("tiny")!;
    for await (const each of model.transcribe(transcriptionCall(audio, { partials: true }))) {
      if (each.kind === "delta") break;
    }
    assert.ok(given < 2.5 * recordingRate, `${given / recordingRate} s were uploaded before the first delta`);
  });

  test("the caller chooses how much silence ends a segment", async () => {
    const samples = recording(silence(0.5), sentence("▁one"), silence(1.2), sentence("▁two"), silence(3));
    for (const kind of ["transducer", "streaming_transducer"] as const) {
      const recognizer = await sharedRecognizer(kind);
      for (const [silenceDurationMs, count] of [
        [500, 2],
        [3_000, 1],
      ] as const) {
        const chunking = { prefixPaddingMs: 300, silenceDurationMs };
        const segments = segmentsOf(await transcribe(recognizer, samples, { chunking }));
        assert.equal(segments.length, count, `${kind}, ${silenceDurationMs}`);
        assert.equal(segments.map(({ text }) => text).join(" "), "one two");
      }
    }
  });

  test("speech without a pause is split at a quiet point, and nothing is lost", async () => {
    const recognizer = await sharedRecognizer("transducer");
    const said = Array.from({ length: 70 }, (_, index) => (["▁one", "▁two", "▁three"] as const)[index % 3]!);
    const samples = recording(
      silence(0.5),
      speech(
        72,
        said.map((token, index) => ({ token, at: 0.7 + index })),
      ),
      silence(1),
    );
    const segments = segmentsOf(await transcribe(recognizer, samples));
    assert.ok(segments.length >= 3 && segments.length <= 6, `${segments.length} segments`);
    assert.equal(segments.map(({ text }) => text).join(" "), said.map((token) => token.slice(1)).join(" "));
    for (const { startMs, endMs } of segments) assert.ok(endMs - startMs <= 28_000);
  });

  test("silence yields no segment", async () => {
    for (const kind of ["transducer", "streaming_transducer"] as const) {
      const recognizer = await sharedRecognizer(kind);
      for (const samples of [new Float32Array(0), Float32Array.of(0.1), silence(3), noise(48_000, 0.01)]) {
        assert.deepEqual(await transcribe(recognizer, samples), [], `${kind}, ${samples.length} samples`);
      }
    }
  });

  test("a disconnected caller is released immediately, even while nothing is uploaded", async () => {
    for (const kind of ["transducer", "streaming_transducer"] as const) {
      const recognizer = await sharedRecognizer(kind);
      const leaving = new AbortController();
      const audio = {
        sampleRate: recordingRate,
        async *open() {
          yield twoSentences.samples.slice(0, recordingRate);
          await new Promise((_, reject) => {
            leaving.signal.addEventListener("abort", () => reject(leaving.signal.reason as Error));
          });
        },
      };
      const model = recognizer.engine.transcription!("tiny")!;
      const left = Array.fromAsync(model.transcribe(transcriptionCall(audio, { signal: leaving.signal })));
      const reason = new Error("gone");
      setImmediate(() => leaving.abort(reason));
      await assert.rejects(left, reason);
      assert.equal(segmentsOf(await transcribe(recognizer, twoSentences.samples)).length, 2, kind);
    }
  });

  test("twenty minutes need the memory of one", async () => {
    const recognizer = await sharedRecognizer("zipformer_ctc");
    const minute = recording(sentence("▁one", "▁two"), silence(58.4));
    const audio = {
      sampleRate: recordingRate,
      async *open() {
        for (let count = 0; count < 20; count++) {
          for (let from = 0; from < minute.length; from += 16_000) yield minute.slice(from, from + 16_000);
        }
      },
    };
    const before = process.memoryUsage().rss;
    let most = 0;
    let count = 0;
    for await (const each of recognizer.engine.transcription!("tiny")!.transcribe(transcriptionCall(audio))) {
      assert.equal(each.text, "one two");
      count++;
      most = Math.max(most, process.memoryUsage().rss - before);
    }
    assert.equal(count, 20);
    assert.ok(most < 150 * 2 ** 20, `${Math.round(most / 2 ** 20)} MiB more`);
  });
});

describe("transcription by sherpa-onnx", () => {
  test("a language that the model does not support is refused", async () => {
    await using german = await startRecognizer("transducer", { languages: ["de-DE", "de-AT"] });
    await assert.rejects(transcribe(german, silence(1)), {
      code: "invalid_request",
      param: "language",
      message: 'language is "en-US", but the model understands de-DE, de-AT.',
    });
    assert.deepEqual(await transcribe(german, silence(1), { language: "de-CH" }), []);
  });

  test("many concurrent recordings do not affect each other", async () => {
    for (const kind of ["transducer", "streaming_transducer"] as const) {
      await using recognizer = await startRecognizer(kind, { processes: 2 });
      const tokens = ["▁one", "▁two", "▁three"] as const;
      const said = Array.from({ length: 12 }, (_, index) =>
        [0, 1, 2].map((step) => tokens[(index + step * (1 + (index % 2))) % 3]!),
      );
      const texts = await Promise.all(
        said.map(async (words) => {
          const heard = await transcribe(recognizer, recording(silence(0.5), sentence(...words), silence(1)));
          return segmentsOf(heard)
            .map(({ text }) => text)
            .join("|");
        }),
      );
      assert.deepEqual(
        texts,
        said.map((words) => words.map((word) => word.slice(1)).join(" ")),
        kind,
      );
      assert.ok(modelProcesses().length <= 2);
    }
  });

  test("a killed process fails its calls, and the next one is answered", async () => {
    for (const kind of ["transducer", "streaming_transducer"] as const) {
      await using recognizer = await startRecognizer(kind);
      const audio = {
        sampleRate: recordingRate,
        async *open() {
          yield twoSentences.samples.slice(0, 4 * recordingRate);
          await until(() => modelProcesses().length === 1);
          process.kill(modelProcesses()[0]!, "SIGKILL");
          await until(() => modelProcesses().length === 0);
          yield twoSentences.samples.slice(4 * recordingRate);
        },
      };
      const model = recognizer.engine.transcription!("tiny")!;
      const killed = Array.fromAsync(model.transcribe(transcriptionCall(audio)));
      if (kind === "streaming_transducer") await assert.rejects(killed, { code: "upstream_failed" });
      else await killed.catch((error: { code: string }) => assert.equal(error.code, "upstream_failed"));
      assert.equal(segmentsOf(await transcribe(recognizer, twoSentences.samples)).length, 2, kind);
    }
  });

  test("a speech model does not transcribe, and vice versa", async () => {
    await using recognizer = await startRecognizer("transducer");
    assert.equal(recognizer.engine.speech!("tiny"), undefined);
    assert.throws(() => recognizer.engine.transcription!("other"), { code: "model_not_found" });
    await using voiced = await startRecognizer("transducer", { voices: { anna: { speaker: 0 } } });
    assert.match(voiced.engine.problemOf!("tiny")!.message, /a transducer model has no voices/);
  });
});
