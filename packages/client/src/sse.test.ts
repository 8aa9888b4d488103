import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { InvalidAnswerError } from "./errors.ts";
import { createSseDecoder, type ServerSentEvent } from "./sse.ts";

function decodeAll(pieces: readonly Uint8Array[]): ServerSentEvent[] {
  const decoder = createSseDecoder();
  return pieces.flatMap((piece) => decoder.push(piece));
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const recording =
  '\uFEFF: a comment\n: ping\ndata: {"a":"naïve 😀"}\n\nevent: error\r\ndata: one\r\ndata:two\r\n\r\n' +
  "id: 7\rretry: 5\rdata\r\rdata:  spaced \n\n: only a comment\n\nevent: lonely\n\ndata: [DONE]\n\n";

const recorded: ServerSentEvent[] = [
  { event: "message", data: '{"a":"naïve 😀"}' },
  { event: "error", data: "one\ntwo" },
  { event: "message", data: "" },
  { event: "message", data: " spaced " },
  { event: "message", data: "[DONE]" },
];

describe("the decoder of server-sent events", () => {
  test("reads every kind of line, line end and character", () => {
    assert.deepEqual(decodeAll([bytes(recording)]), recorded);
  });

  test("gives the same events wherever the bytes are cut in two", () => {
    const whole = bytes(recording);
    for (let cut = 0; cut <= whole.length; cut += 1) {
      assert.deepEqual(decodeAll([whole.subarray(0, cut), whole.subarray(cut)]), recorded, `cut at ${cut}`);
    }
  });

  test("gives the same events from single bytes", () => {
    assert.deepEqual(decodeAll([...bytes(recording)].map((byte) => Uint8Array.of(byte))), recorded);
  });

  test("gives an event at once when its blank line is a CR, without waiting for a LF", () => {
    assert.deepEqual(decodeAll([bytes("data: x\r\r")]), [{ event: "message", data: "x" }]);
  });

  test("gives nothing of an event whose blank line has not come", () => {
    assert.deepEqual(decodeAll([bytes("data: x\n")]), []);
  });

  test("reads back any texts, with any line ends, cut anywhere", () => {
    const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
    const data = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => text.replaceAll(/[\r\n]/g, ""));
    fc.assert(
      fc.property(
        fc.array(fc.record({ lines: fc.array(data, { minLength: 1, maxLength: 3 }), lineEnd }), { maxLength: 6 }),
        fc.array(fc.nat(400), { maxLength: 12 }),
        (written, cuts) => {
          const stream = bytes(
            written
              .map(({ lines, lineEnd: end }) => lines.map((line) => `data: ${line}${end}`).join("") + end)
              .join(""),
          );
          const places = [0, ...cuts.map((cut) => Math.min(cut, stream.length)), stream.length].sort((a, b) => a - b);
          const pieces = places.slice(1).map((place, index) => stream.subarray(places[index], place));
          const expected = written.map(({ lines }) => ({ event: "message", data: lines.join("\n") }));
          assert.deepEqual(decodeAll(pieces), expected);
        },
      ),
    );
  });

  test("refuses an event that never ends", () => {
    const decoder = createSseDecoder();
    const piece = new Uint8Array(8 * 1024 * 1024).fill(120);
    assert.throws(() => {
      for (let count = 0; count < 9; count += 1) decoder.push(piece);
    }, InvalidAnswerError);
  });
});
