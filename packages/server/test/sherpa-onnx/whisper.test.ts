/** Whisper in sherpa-onnx: word times, languages, and the rest of a stretch that it ended early. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { recording, sentence, silence, speech, type Token } from "./spoken-tones.ts";
import { segmentsOf, startRecognizer, transcribe } from "./test-engine.ts";

describe("a Whisper model", () => {
  test("returns word times if it was exported with its alignment heads", async () => {
    await using recognizer = await startRecognizer("whisper_with_words");
    assert.equal(recognizer.engine.transcription!("tiny")!.givesWords, true);
    const samples = recording(silence(1), sentence("▁one", "▁two", "▁three", "s"), silence(1));
    const [segment] = segmentsOf(await transcribe(recognizer, samples));
    const words = segment!.words!;
    assert.deepEqual(
      words.map(({ text }) => text),
      ["one", "two", "threes"],
    );
    // The first word begins at the segment's start.
    for (const [index, startMs] of [
      [1, 1_900],
      [2, 2_400],
    ] as const) {
      assert.ok(Math.abs(words[index]!.startMs - startMs) < 150, `${words[index]!.text} at ${words[index]!.startMs}`);
    }
    assert.ok(words[0]!.startMs >= 500 && words[0]!.endMs <= words[1]!.startMs);
  });

  test("receives the language of each call, and refuses languages that it does not know", async () => {
    await using recognizer = await startRecognizer("whisper");
    const samples = recording(silence(0.5), sentence("▁one", "▁two"), silence(1));
    const heard = async (language: string) =>
      segmentsOf(await transcribe(recognizer, samples, { language, words: false })).map((each) => [
        each.text,
        each.language,
      ]);
    assert.deepEqual(await heard("en-US"), [["one two", "en"]]);
    assert.deepEqual(await heard("de-DE"), [["two", "de"]]);
    assert.deepEqual(await heard("en-GB"), [["one two", "en"]]);
    await assert.rejects(heard("fr-FR"), {
      code: "invalid_request",
      message: 'language is "fr-FR", but the model understands en, de.',
    });
    await using any = await startRecognizer("whisper", { languages: ["en", "fr"] });
    assert.deepEqual((await transcribe(any, samples, { language: "fr-FR", words: false })).length, 1);
  });

  test("detects the language of a call that names none, and reports it", async () => {
    await using recognizer = await startRecognizer("whisper", { processes: 2 });
    const heard = async (...said: readonly Token[]) =>
      segmentsOf(
        await transcribe(recognizer, recording(silence(0.5), sentence(...said), silence(1)), {
          language: undefined,
          words: false,
        }),
      ).map((each) => [each.text, each.language]);
    assert.deepEqual(await heard("▁one", "▁two"), [["one two", "en"]]);
    assert.deepEqual(await heard("▁one", "▁three"), [["three", "de"]]);
  });

  test("recognizes a recording in one language, once there was enough speech in it", async () => {
    await using recognizer = await startRecognizer("whisper", { processes: 2 });
    const samples = recording(
      silence(0.5),
      speech(6, [{ token: "▁three", at: 1 }]),
      silence(1.5),
      speech(6, [{ token: "▁three", at: 1 }]),
      silence(1.5),
      sentence("▁one", "▁two"),
      silence(1),
    );
    const call = { language: undefined, words: false, partials: true };
    const segments = segmentsOf(await transcribe(recognizer, samples, call));
    assert.deepEqual(
      segments.map(({ text, language }) => [text, language]),
      [
        ["three", "de"],
        ["three", "de"],
        ["two", "de"],
      ],
    );
  });

  test("that is configured for one language recognizes it in calls that name none", async () => {
    await using german = await startRecognizer("whisper", { languages: ["de-AT"] });
    const samples = recording(silence(0.5), sentence("▁one", "▁two"), silence(1));
    for (const language of [undefined, "de-DE"]) {
      const [segment] = segmentsOf(await transcribe(german, samples, { language, words: false }));
      assert.deepEqual([segment!.text, segment!.language], ["two", "de"]);
    }
    await assert.rejects(transcribe(german, samples, { language: "en-US", words: false }), {
      code: "invalid_request",
      param: "language",
      message: 'language is "en-US", but the model understands de-AT.',
    });
  });

  test("gets up to 28 s of speech at a time if the caller waits for the whole text, and less in a stream", async () => {
    await using recognizer = await startRecognizer("whisper");
    const samples = recording(silence(0.5), sentence("▁one"), silence(1.2), sentence("▁two"), silence(1));
    const heard = async (partials: boolean): Promise<string[]> =>
      segmentsOf(await transcribe(recognizer, samples, { words: false, partials })).map(({ text }) => text);
    assert.deepEqual(await heard(false), ["one two"]);
    assert.deepEqual(await heard(true), ["one", "two"]);
  });

  test("that ends before the speech does recognizes the rest, too", async () => {
    await using recognizer = await startRecognizer("whisper_with_words");
    // The model says each word of a stretch once.
    const said = speech(9, [
      { token: "▁one", at: 0.5 },
      { token: "▁two", at: 1.2 },
      { token: "▁one", at: 6 },
    ]);
    const segments = segmentsOf(await transcribe(recognizer, recording(silence(1), said, silence(1))));
    assert.equal(segments.map(({ text }) => text).join(" "), "one two one");
    const words = segments.flatMap((segment) => segment.words!);
    // The first word begins at the start of the rest.
    assert.ok(words.at(-1)!.startMs > 2_300 && words.at(-1)!.startMs < 7_000);
    for (const [index, word] of words.entries()) assert.ok(word.endMs <= (words[index + 1]?.startMs ?? 11_000));
  });
});
