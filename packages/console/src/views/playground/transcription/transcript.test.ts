/** A transcript that grows with the events of a stream. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Transcript } from "./transcript.ts";

const segment = { seek: 0, avg_logprob: 0, compression_ratio: 1 };

function delta(text: string) {
  return { type: "transcript.text.delta", delta: text, text, logprobs: null } as const;
}

function textOf({ segments, tail }: Transcript): string[] {
  const texts = segments.map(({ pieces }) =>
    pieces.map((each) => (typeof each === "string" ? each : each.text)).join(""),
  );
  return [...texts, tail];
}

describe("Transcript", () => {
  test("shows text before its segment is complete, and each text once", () => {
    const transcript = new Transcript();
    transcript.take(delta("Six "));
    transcript.take(delta("feet."));
    assert.deepEqual(textOf(transcript), ["Six feet."]);
    transcript.take({ type: "transcript.word", word: "Six", start: 0, end: 0.4, segment: 0 });
    transcript.take({ type: "transcript.word", word: "feet", start: 0.4, end: 0.9, segment: 0 });
    transcript.take({
      type: "transcript.segment",
      segment: { ...segment, id: 0, start: 0, end: 1, text: "Six feet." },
    });
    assert.deepEqual(textOf(transcript), ["Six feet.", ""]);
    transcript.take(delta(" Or m"));
    assert.deepEqual(textOf(transcript), ["Six feet.", "Or m"]);
    assert.deepEqual(
      transcript.timed.map(({ text, start }) => [text, start]),
      [
        ["Six", 0],
        ["feet", 0.4],
      ],
    );
  });

  test("shows segments as a whole where the times of words are not known", () => {
    const transcript = new Transcript();
    transcript.take(delta("Aye. Sir."));
    transcript.take({ type: "transcript.segment", segment: { ...segment, id: 0, start: 0, end: 1, text: "Aye." } });
    transcript.take({ type: "transcript.segment", segment: { ...segment, id: 1, start: 1, end: 2, text: "Sir." } });
    assert.deepEqual(textOf(transcript), ["Aye.", "Sir.", ""]);
    assert.deepEqual(transcript.timed, [
      { text: "Aye.", start: 0, end: 1 },
      { text: "Sir.", start: 1, end: 2 },
    ]);
  });

  test("shows words whose spelling is not that of the text", () => {
    const transcript = new Transcript();
    transcript.take(delta("3 feet"));
    transcript.take({ type: "transcript.word", word: "three", start: 0, end: 0.4 });
    transcript.take({ type: "transcript.word", word: "feet", start: 0.4, end: 0.9 });
    transcript.take({ type: "transcript.segment", segment: { ...segment, id: 0, start: 0, end: 1, text: "3 feet" } });
    assert.deepEqual(textOf(transcript), ["three feet", ""]);
  });
});
