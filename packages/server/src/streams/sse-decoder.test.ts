import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { AppError } from "../errors.ts";
import { SseDecoder, type SseEvent } from "./sse-decoder.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

function decode(pieces: readonly (string | Uint8Array)[], maxEventBytes = 1_000_000): SseEvent[] {
  const events: SseEvent[] = [];
  const decoder = new SseDecoder((event) => events.push(event), maxEventBytes);
  for (const piece of pieces) decoder.push(Buffer.from(piece));
  decoder.end();
  return events;
}

const dataOf = (text: string): string[] => decode([text]).map(({ data }) => data);

/** The specification's algorithm for a whole text, as short as possible. */
function decodeWhole(text: string): SseEvent[] {
  const events: SseEvent[] = [];
  let type = "";
  let data: string[] = [];
  for (const line of [...text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/), ""]) {
    if (line === "") {
      if (data.length > 0) events.push({ type: type || "message", data: data.join("\n") });
      type = "";
      data = [];
    }
    const [, name, value = ""] = /^([^:]*)(?::\u0020?(.*))?$/su.exec(line) ?? [];
    if (name === "data") data.push(value);
    if (name === "event") type = value;
  }
  return events;
}

describe("SseDecoder", () => {
  test("reads events that end in line feeds, carriage returns or both", () => {
    for (const end of ["\n", "\r", "\r\n"]) {
      assert.deepEqual(dataOf(`data: a${end}${end}data: b${end}${end}`), ["a", "b"], JSON.stringify(end));
    }
  });

  test("joins several data lines, and removes one space after the colon", () => {
    assert.deepEqual(dataOf("data: a\ndata:b\ndata:  c\ndata\n\n"), ["a\nb\n c\n"]);
  });

  test("skips comments and frames without data", () => {
    assert.deepEqual(dataOf(": ping\n\nevent: ping\n\nid: 1\n\nretry: 5\n\n\n\n: x\ndata: a\n\ndatabase: b\n\n"), [
      "a",
    ]);
  });

  test("names the type of an event, for this event only", () => {
    assert.deepEqual(decode(["event: error\ndata: a\n\ndata: b\n\nevent\ndata: c\n\neventful: x\ndata: d\n\n"]), [
      { type: "error", data: "a" },
      { type: "message", data: "b" },
      { type: "message", data: "c" },
      { type: "message", data: "d" },
    ]);
  });

  test("removes a byte order mark, only at the start", () => {
    assert.deepEqual(dataOf("\uFEFFdata: a\n\ndata: \uFEFFb\n\n"), ["a", "\uFEFFb"]);
  });

  test("reports a last event without its blank line, and without its line end", () => {
    assert.deepEqual(dataOf("data: a\n\ndata: b\n"), ["a", "b"]);
    assert.deepEqual(dataOf("data: a\n\ndata: b"), ["a", "b"]);
  });

  test("reports an event as soon as its blank line arrives", () => {
    const events: SseEvent[] = [];
    const decoder = new SseDecoder((event) => events.push(event), 100);
    decoder.push(Buffer.from("data: a\r\n\r"));
    assert.equal(events.length, 1);
    decoder.push(Buffer.from("\ndata: b\r\n"));
    assert.equal(events.length, 1);
    decoder.push(Buffer.from("\r\n"));
    assert.deepEqual(
      events.map(({ data }) => data),
      ["a", "b"],
    );
  });

  test("refuses an event above the limit, in one line, in many, and without a line end", () => {
    const refused = (error: unknown): boolean => error instanceof AppError && error.code === "upstream_failed";
    assert.throws(() => decode([`data: ${"x".repeat(100)}\n\n`], 50), refused);
    assert.throws(() => decode(["data: 0123456789\n".repeat(10)], 50), refused);
    assert.throws(
      () =>
        decode(
          Array.from({ length: 100 }, () => "x"),
          50,
        ),
      refused,
    );
    assert.equal(decode(["data: 0123456789\n\n".repeat(10)], 50).length, 10);
  });

  test("reads any text according to the specification, however its bytes are split", () => {
    const line = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom("data: é", "data:😀", "data", "", "event: x", "event", ": c", "id: 1") },
      fc
        .array(fc.constantFrom("data", "event", ":", " ", "é", "\uFEFF", "x"), { maxLength: 5 })
        .map((parts) => parts.join("")),
    );
    const text = fc
      .array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n")), { maxLength: 12 })
      .map((lines) => lines.flat().join(""));
    const cuts = fc.oneof(
      fc.array(fc.nat({ max: 100 }), { maxLength: 20 }),
      fc.constant(Array.from({ length: 200 }, (_, at) => at)),
    );
    fc.assert(
      fc.property(text, cuts, (whole, places) => {
        const bytes = Buffer.from(whole);
        const ends = [...new Set(places.filter((at) => at < bytes.length))].sort((a, b) => a - b);
        const pieces = [0, ...ends].map((start, index) => bytes.subarray(start, ends[index] ?? bytes.length));
        assert.deepEqual(decode(pieces), decodeWhole(bytes.toString()));
      }),
      { numRuns: propertyRuns(2_000) },
    );
  });

  test("survives arbitrary bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (pieces) => {
        decode(pieces);
      }),
    );
  });
});
