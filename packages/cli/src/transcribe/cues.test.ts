import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { cuesOf, renderSrt, renderVtt, wordCues } from "./cues.ts";

const rest = { seek: 0, avg_logprob: 0, compression_ratio: 1 };

/** A segment of words, one in so many seconds. */
function spoken(texts: readonly string[], seconds: number, id = 0) {
  const words = texts.map((word, index) => ({
    word,
    start: index * seconds,
    end: (index + 0.9) * seconds,
    segment: id,
  }));
  const end = words.at(-1)?.end ?? 0;
  return { words, segment: { ...rest, id, start: 0, end, text: texts.join(" ") } };
}

describe("the cues of subtitles", () => {
  test("are the segments, where these are short or their words are not known", () => {
    const { segment } = spoken(["six", "feet"], 1);
    assert.deepEqual(cuesOf([{ ...segment, speaker_id: "Guest-1" }], []), [
      { start: 0, end: 1.9, text: "six feet", speaker: "Guest-1" },
    ]);
    const long = { ...segment, text: "a".repeat(200) };
    assert.equal(cuesOf([long], []).length, 1);
  });

  test("of long segments lose no word, overlap nowhere and can be read", () => {
    const texts = fc.array(fc.stringMatching(/^[a-z]{1,20}$/), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(texts, fc.double({ min: 0.1, max: 3, noNaN: true }), (texts, seconds) => {
        const { words, segment } = spoken(texts, seconds);
        const cues = cuesOf([segment], words);
        assert.equal(cues.map(({ text }) => text).join(" "), segment.text);
        for (const [index, { start, end, text }] of cues.entries()) {
          assert.ok(text.length <= 84 && end - start <= 7.000_001 && start < end);
          if (index > 0) assert.ok(cues[index - 1]!.end <= start);
        }
      }),
    );
  });

  test("end where the next one begins", () => {
    const [one, two] = [spoken(["six"], 2).segment, spoken(["feet"], 2).segment];
    const cues = cuesOf([one, { ...two, start: 1.5, end: 3 }], []);
    assert.deepEqual(
      cues.map(({ start, end }) => [start, end]),
      [
        [0, 1.5],
        [1.5, 3],
      ],
    );
  });

  test("are written as SubRip and as WebVTT", () => {
    const cues = [
      { start: 0, end: 1.2345, text: "a < b & c\n\nd", speaker: undefined },
      { start: 3_661.5, end: 3_662, text: "yes", speaker: "Guest-2" },
    ];
    assert.equal(
      renderSrt(cues),
      "1\n00:00:00,000 --> 00:00:01,235\na < b & c\nd\n\n2\n01:01:01,500 --> 01:01:02,000\nGuest-2: yes\n",
    );
    assert.equal(
      renderVtt(cues),
      "WEBVTT\n\n00:00:00.000 --> 00:00:01.235\na &lt; b &amp; c\nd\n\n01:01:01.500 --> 01:01:02.000\n<v Guest-2>yes\n",
    );
    assert.equal(renderVtt([]), "WEBVTT\n");
  });

  test("may be single words", () => {
    assert.deepEqual(
      wordCues(spoken(["six", "feet"], 1).words).map(({ text, start }) => [text, start]),
      [
        ["six", 0],
        ["feet", 1],
      ],
    );
  });
});
