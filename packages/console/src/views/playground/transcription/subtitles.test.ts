/** Transcripts as SubRip and WebVTT. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toSubRip, toWebVtt } from "./subtitles.ts";

const segment = { seek: 0, avg_logprob: 0, compression_ratio: 1 };
const spoken = {
  segments: [
    { ...segment, id: 0, start: 0.2, end: 1.5, text: "Fish & <chips>" },
    { ...segment, id: 1, start: 3_661.25, end: 3_662, text: "Aye.\n\nSir.", speaker_id: "Guest-1" },
  ],
  words: [],
};

describe("subtitles", () => {
  test("in SubRip have numbers, times with commas, and speakers in the text", () => {
    assert.equal(
      toSubRip(spoken),
      "1\n00:00:00,200 --> 00:00:01,500\nFish & <chips>\n\n2\n01:01:01,250 --> 01:01:02,000\nGuest-1: Aye.\nSir.\n",
    );
  });

  test("in WebVTT have times with points, voices, and no markup of the text", () => {
    assert.equal(
      toWebVtt(spoken),
      "WEBVTT\n\n00:00:00.200 --> 00:00:01.500\nFish &amp; &lt;chips&gt;\n\n01:01:01.250 --> 01:01:02.000\n<v Guest-1>Aye.\nSir.\n",
    );
  });

  test("cut a long segment between its words, and never overlap", () => {
    const words = Array.from({ length: 40 }, (_, index) => ({
      word: `word${index}`,
      start: index * 0.5,
      end: index * 0.5 + 0.6,
      segment: 0,
    }));
    const text = words.map(({ word }) => word).join(" ");
    const cues = toSubRip({ segments: [{ ...segment, id: 0, start: 0, end: 20, text }], words }).split("\n\n");
    const times = cues.map((cue) =>
      cue
        .split("\n")[1]!
        .split(" --> ")
        .map((time) => Number(time.slice(6).replace(",", "."))),
    );
    assert.ok(cues.length >= 3);
    assert.equal(cues.map((cue) => cue.trim().split("\n")[2]).join(" "), text);
    for (const [index, [start, end]] of times.entries()) {
      assert.ok(end! - start! <= 7);
      assert.ok(end! <= (times[index + 1]?.[0] ?? Infinity));
    }
  });
});
