/** Word times checked with another recognizer: PocketSphinx, if Debian's package is installed. */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { SpeechWithBoundaries } from "../../src/api/speech.ts";
import { silentLogger } from "../../src/logger.ts";
import { createFliteEngine } from "../../src/engines/flite/engine.ts";
import { runOn } from "../audio/programs.ts";
import { startTestSpeech } from "../support/test-speech.ts";
import { fliteEngineSettings } from "./engine-settings.ts";
import { needs } from "../../../../test/support/needs.ts";
import { isThorough } from "../../../../test/support/property-runs.ts";

const sentences = [
  "The north wind and the sun were disputing which was the stronger, when a traveler came along wrapped in a warm cloak.",
  "They agreed that the one who first succeeded in making the traveler take his cloak off should be considered stronger than the other.",
];

interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Lines of `word start end confidence`; a number in brackets identifies a pronunciation. */
function recognise(wav: Uint8Array): TimedWord[] {
  const options = "-time yes -remove_silence no -logfn /dev/null";
  const lines = runOn(wav, "wav", `pocketsphinx_continuous -infile {} ${options}`).toString().split("\n");
  return lines.flatMap((line) => {
    const [word = "", start, end, confidence] = line.split(" ");
    if (confidence === undefined || !/^[a-z']+(?:\(\d+\))?$/.test(word) || !/^\d+\.\d+$/.test(start!)) return [];
    return [{ text: word.replace(/\(.*/, ""), startMs: Number(start) * 1000, endMs: Number(end) * 1000 }];
  });
}

/** The words common to both, in order: a longest common subsequence. */
function matched(told: readonly TimedWord[], heard: readonly TimedWord[]): [TimedWord, TimedWord][] {
  const lengths = Array.from({ length: told.length + 1 }, () => new Uint16Array(heard.length + 1));
  for (let i = told.length - 1; i >= 0; i--) {
    for (let j = heard.length - 1; j >= 0; j--) {
      const [below, beside] = [lengths[i + 1]![j]!, lengths[i]![j + 1]!];
      lengths[i]![j] = told[i]!.text === heard[j]!.text ? lengths[i + 1]![j + 1]! + 1 : Math.max(below, beside);
    }
  }
  const pairs: [TimedWord, TimedWord][] = [];
  for (let i = 0, j = 0; i < told.length && j < heard.length;) {
    if (told[i]!.text === heard[j]!.text) pairs.push([told[i++]!, heard[j++]!]);
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) i++;
    else j++;
  }
  return pairs;
}

describe("word times", { skip: needs("pocketsphinx", "pocketsphinx_continuous") }, () => {
  test("match those at which a recognizer hears the words", async (context) => {
    const engine = createFliteEngine("flite", { ...fliteEngineSettings, preload: false }, { logger: silentLogger });
    const server = await startTestSpeech({ engines: [engine] });
    after(() => server[Symbol.asyncDispose]());
    for (const [index, voice] of ["slt", "rms"].entries()) {
      // The recognizer takes a second for each second: each voice speaks one of them, or both in a thorough run.
      const input = isThorough ? sentences.join(" ") : sentences[index];
      const response = await server.post({ model: "flite", voice, input, enable_word_boundary: true });
      const { audio, word_boundaries: boundaries } = (await response.json()) as SpeechWithBoundaries;
      const told = boundaries
        .filter(({ boundary_type: type }) => type === "word")
        .map((each) => ({
          text: each.text.toLowerCase(),
          startMs: each.audio_offset_ms,
          endMs: each.audio_offset_ms + each.duration_ms,
        }));
      const pairs = matched(told, recognise(Buffer.from(audio, "base64")));
      assert.ok(pairs.length > told.length / 2, `${pairs.length} of ${told.length} words were understood`);
      const mean = (part: "startMs" | "endMs"): number =>
        pairs.reduce((sum, [one, other]) => sum + Math.abs(one[part] - other[part]), 0) / pairs.length;
      const [start, end] = [mean("startMs"), mean("endMs")];
      context.diagnostic(`${voice}: off by ${start.toFixed(1)} ms at the start, ${end.toFixed(1)} ms at the end`);
      assert.ok(start < 80 && end < 80, `${voice}: ${start} ms, ${end} ms`);
    }
  });
});
