/** Invariants of the marks of any text, from any engine that returns marks. */
import assert from "node:assert/strict";
import type { SpeechPiece } from "../../src/engines/engine.ts";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
/** Times are reported in tenths of a millisecond. */
const toleranceMs = 0.1;

/**
 * Marks cover whole characters of the text and follow one another; every letter and digit is in one mark; times
 * never decrease and stay within the piece's audio.
 */
export function assertMarks(text: string, pieces: readonly SpeechPiece[]): void {
  const borders = new Set([...graphemes.segment(text)].map(({ index }) => index).concat(text.length));
  const covered = new Uint8Array(text.length);
  let offset = 0;
  for (const { marks, samples, sampleRate, sentence } of pieces) {
    let timeMs = 0;
    for (const mark of marks) {
      const end = mark.offset + mark.length;
      const written = text.slice(mark.offset, end);
      const where = `${JSON.stringify(written)} in ${JSON.stringify(text)}`;
      assert.ok(mark.offset >= offset, `offsets go forward: ${where}`);
      assert.ok(written !== "" && written.trim() === written, `something is written there: ${where}`);
      assert.ok(borders.has(mark.offset) && borders.has(end), `characters are whole: ${where}`);
      assert.ok(mark.startMs >= timeMs - toleranceMs && mark.durationMs >= 0, `times go forward: ${where}`);
      assert.ok(
        mark.startMs + mark.durationMs <= (samples.length / sampleRate) * 1000 + toleranceMs,
        `it is heard before the end: ${where}`,
      );
      if (mark.kind === "punctuation") assert.ok(!/[\p{L}\p{N}]/u.test(written), `no word is punctuation: ${where}`);
      covered.fill(1, mark.offset, end);
      offset = end;
      timeMs = mark.startMs;
    }
    if (sentence !== undefined) assert.ok(sentence.offset + sentence.length <= text.length);
  }
  // A character reference of a space is as silent as a space.
  const audible = text.replaceAll("&nbsp;", " ".repeat("&nbsp;".length));
  for (const { 0: character, index } of audible.matchAll(/[\p{L}\p{N}]/gu)) {
    assert.ok(covered[index] === 1, `${character} at ${index} is in no mark of ${JSON.stringify(text)}`);
  }
}
