import assert from "node:assert/strict";
import { isAscii } from "node:buffer";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { StringScanner } from "./string-scanner.ts";

/** What follows the opening quote of a string, byte by byte. */
function plainScan(text: Buffer, end: number) {
  let escapes = 0;
  let isDamaged = false;
  let at = 0;
  while (at < end && text[at] !== 0x22) {
    if (text[at] === 0x5c) {
      escapes += 1;
      if (!/^\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/.test(text.toString("latin1", at, at + 6))) isDamaged = true;
      at += 2;
    } else {
      if (text[at]! < 0x20) isDamaged = true;
      at += 1;
    }
  }
  return { at, escapes, isDamaged };
}

/** Mostly what a scan looks at, with plain stretches that divide it among blocks. */
const pieces = fc.oneof(
  fc.constantFrom("\\", "\\\\", "\\n", '\\"', "\\/", "\\u00e9", "\\uD83D", "\\u12g4", "\\u", "\\x", "é", "😀"),
  fc.nat(70).map((length) => "a".repeat(length)),
  fc
    .record({ series: fc.nat(70), rest: fc.constantFrom("", "n", '\\"') })
    .map(({ series, rest }) => "\\".repeat(series) + rest),
  { weight: 1, arbitrary: fc.constantFrom('"', "\n", "\u001f", "\u0000") },
);

const texts = fc
  .record({ pieces: fc.array(pieces, { maxLength: 20 }), before: fc.nat(5) })
  .map((parts) => ({ text: Buffer.from(" ".repeat(parts.before) + parts.pieces.join("")), before: parts.before }));

describe("the scan of a string with SIMD instructions", () => {
  test("passes what a scan byte by byte does, to the same quote", () => {
    const scanner = new StringScanner();
    fc.assert(
      fc.property(texts, ({ text, before }) => {
        scanner.load(text, before, text.length);
        const stopped = scanner.pass(before);
        const passed = text.subarray(before);
        const expected = plainScan(passed, stopped - before);
        assert.deepEqual(
          { at: stopped - before, escapes: scanner.escapes, isDamaged: scanner.isDamaged },
          expected,
          JSON.stringify(text.toString()),
        );
        assert.ok(text[stopped] === 0x22 || text.length - stopped <= 70);
        // It may look at more than it passes.
        if (scanner.isAscii) assert.ok(isAscii(text.subarray(before, stopped)));
        else assert.ok(!isAscii(text.subarray(before)));
      }),
      { numRuns: propertyRuns(3_000) },
    );
  });

  test("takes as much of a text as fits", () => {
    const scanner = new StringScanner();
    const text = Buffer.from(`${"é\\n".repeat(100_000)}"`);
    scanner.load(text, 2, text.length);
    const stopped = scanner.pass(2);
    assert.ok(stopped > 130_000 && stopped < 132_000, String(stopped));
    assert.equal(scanner.escapes, Math.round((stopped - 2) / 4));
  });

  test("knows which bytes make an escape", () => {
    const scanner = new StringScanner();
    const text = Buffer.from(`${"a".repeat(40)}\\ ${"a".repeat(40)}"${"a".repeat(80)}`);
    for (let byte = 0; byte < 256; byte += 1) {
      text[41] = byte;
      scanner.load(text, 0, text.length);
      assert.equal(text[scanner.pass(0)], 0x22);
      assert.equal(scanner.isDamaged, !'"\\/bfnrtu'.includes(String.fromCharCode(byte)), `byte ${byte}`);
    }
  });
});
