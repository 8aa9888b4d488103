/** Samples as WAV files, the peaks of waveforms, and which word is spoken when. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatClock, wordAt } from "./timed-words.ts";
import { mixToInt16, wavFile } from "./wav-file.ts";
import { WaveformPeaks } from "./waveform-peaks.ts";

describe("wavFile", () => {
  test("has the header of 16-bit mono samples before the samples", async () => {
    const file = new Blob(wavFile(Int16Array.of(1, -2, 32_767), 22_050));
    const bytes = Buffer.from(await file.arrayBuffer());
    assert.equal(bytes.length, 50);
    assert.equal(bytes.toString("latin1", 0, 4) + bytes.toString("latin1", 8, 16), "RIFFWAVEfmt ");
    assert.equal(bytes.readUInt32LE(4), 42);
    const format = [bytes.readUInt16LE(20), bytes.readUInt16LE(22), bytes.readUInt32LE(24), bytes.readUInt32LE(28)];
    assert.deepEqual(format, [1, 1, 22_050, 44_100]);
    assert.deepEqual([bytes.readUInt16LE(32), bytes.readUInt16LE(34)], [2, 16]);
    assert.equal(bytes.toString("latin1", 36, 40), "data");
    assert.equal(bytes.readUInt32LE(40), 6);
    assert.deepEqual(
      [44, 46, 48].map((at) => bytes.readInt16LE(at)),
      [1, -2, 32_767],
    );
  });

  test("gets the mean of the channels, limited to what 16 bits hold", () => {
    assert.deepEqual([...mixToInt16([Float32Array.of(1, 0.5, 3), Float32Array.of(-1, 0.5, 3)])], [0, 16_383, 32_767]);
    assert.equal(mixToInt16([]).length, 0);
  });
});

describe("WaveformPeaks", () => {
  /** A second of silence, with one loud sample. */
  const second = (at: number): Int16Array =>
    Int16Array.from({ length: 8_000 }, (_, index) => (index === at ? -16_384 : 0));

  for (const size of [1, 7, 80, 8_000]) {
    test(`finds the loudest samples in pieces of ${size}`, () => {
      const peaks = new WaveformPeaks(8_000);
      const samples = second(4_100);
      for (let at = 0; at < samples.length; at += size) peaks.append(samples.subarray(at, at + size));
      assert.deepEqual([...peaks.columns(4, 1)], [0, 0, 0.5, 0]);
      assert.deepEqual([...peaks.columns(4, 2)], [0, 0.5, 0, 0]);
    });
  }

  test("keeps time at rates that are no multiple of its resolution", () => {
    const peaks = new WaveformPeaks(22_050);
    for (let index = 0; index < 100; index += 1) peaks.append(new Int16Array(22_050));
    peaks.append(new Int16Array(22_050).fill(16_384));
    const columns = peaks.columns(101, 101);
    assert.deepEqual([columns[99], columns[100]], [0, 0.5]);
  });

  test("draws more columns than it has peaks", () => {
    const peaks = new WaveformPeaks(8_000);
    peaks.append(new Int16Array(160).fill(8_192));
    assert.deepEqual([...peaks.columns(4, 0.02)], [0.25, 0.25, 0.25, 0.25]);
  });
});

describe("wordAt", () => {
  const words = [
    { text: "one", start: 0.5, end: 0.9 },
    { text: "two", start: 1, end: 1.4 },
    { text: "three", start: 1.4, end: 2 },
  ];
  const cases: [seconds: number, index: number][] = [
    [0, -1],
    [0.5, 0],
    [0.95, 0],
    [1, 1],
    [1.4, 2],
    [60, 2],
  ];
  for (const [seconds, index] of cases)
    test(`finds ${words[index]?.text ?? "no word"} at ${seconds} s`, () => assert.equal(wordAt(words, seconds), index));
  test("finds none in a text without words", () => assert.equal(wordAt([], 1), -1));
});

describe("formatClock", () => {
  const cases: [seconds: number, text: string][] = [
    [0, "0:00.0"],
    [59.96, "1:00.0"],
    [62.34, "1:02.3"],
    [3_723.45, "1:02:03.5"],
    [-1, "0:00.0"],
  ];
  for (const [seconds, text] of cases) test(text, () => assert.equal(formatClock(seconds), text));
});
