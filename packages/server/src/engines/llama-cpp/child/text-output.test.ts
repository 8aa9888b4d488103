import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { createTextOutput } from "./text-output.ts";

interface Sent {
  readonly pieces: string[];
  readonly stoppedBy: string | undefined;
  readonly rest: string;
}

/** Sends bytes in pieces of one to three, as tokens might be. */
function send(
  text: string,
  stop: readonly string[],
  { opening, sizes = [1] }: { opening?: string; sizes?: readonly number[] } = {},
): Sent {
  const output = createTextOutput(stop, opening);
  const bytes = Buffer.from(text);
  const pieces: string[] = [];
  for (let start = 0, turn = 0; start < bytes.length; turn++) {
    const end = start + sizes[turn % sizes.length]!;
    const step = output.push(bytes.subarray(start, end));
    pieces.push(step.text);
    if (step.stopped !== undefined) return { pieces, stoppedBy: step.stopped.by, rest: step.stopped.rest };
    start = end;
  }
  pieces.push(output.end().text);
  return { pieces, stoppedBy: undefined, rest: "" };
}

const letters = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀"), maxLength: 24 });
const stops = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "é", "😀"), minLength: 1, maxLength: 4 }), {
  maxLength: 4,
});
const sizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1 });

describe("the text output", () => {
  test("sends the text up to the first stop sequence, however the bytes are split", () => {
    fc.assert(
      fc.property(letters, stops, sizes, (text, stop, cuts) => {
        const { pieces } = send(text, stop, { sizes: cuts });
        const ends = stop.map((each) => text.indexOf(each)).filter((index) => index !== -1);
        const sent = pieces.join("");
        // With longer tokens, a longer stop sequence may be complete before a shorter, later one is detected: the earliest start counts.
        assert.ok(!stop.some((each) => sent.includes(each)), `${sent} has a stop sequence`);
        assert.equal(sent, ends.length === 0 ? text : text.slice(0, sent.length));
        if (cuts.length === 1 && cuts[0] === 1 && stop.length === 1) assert.equal(sent, text.slice(0, ends[0]));
      }),
    );
  });

  test("never sends half a character", () => {
    fc.assert(
      fc.property(letters, sizes, (text, cuts) => {
        assert.ok(
          send(text, [], { sizes: cuts }).pieces.every((piece) => piece.isWellFormed() && !piece.includes("\ufffd")),
        );
      }),
    );
  });

  test("omits the bytes of an unfinished character at the end", () => {
    const output = createTextOutput([]);
    assert.equal(output.push(Buffer.from("é😀").subarray(0, 4)).text, "é");
    assert.equal(output.end().text, "");
  });

  test("removes the opening only at the beginning", () => {
    assert.deepEqual(send(' {"name": 1', [], { opening: '{"name":' }), {
      pieces: [" ", ...Array.from({ length: 8 }, () => "")],
      stoppedBy: '{"name":',
      rest: "",
    });
    assert.equal(send('so {"name": 1', [], { opening: '{"name":' }).pieces.join(""), 'so {"name": 1');
    assert.equal(send('{"other": 1', [], { opening: '{"name":' }).pieces.join(""), '{"other": 1');
    assert.equal(send('so {"name": 1', ["1"], { opening: '{"name":', sizes: [40] }).stoppedBy, "1");
  });
});
