/** Server-sent events in pieces: every line end, every cut, comments, several lines of data. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createEventDecoder } from "./event-decoder.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("createEventDecoder", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    test(`reads lines that end in ${JSON.stringify(end)}, cut anywhere`, () => {
      const stream = bytes(
        [
          "\uFEFF: comment",
          "event: x",
          "data: größer 🎧",
          "data:",
          "data:two",
          "",
          "",
          "id: 1",
          "data: [DONE]",
          "",
          "",
        ].join(end),
      );
      for (let cut = 0; cut <= stream.length; cut++) {
        const decoder = createEventDecoder();
        const events = [...decoder.push(stream.slice(0, cut)), ...decoder.push(stream.slice(cut))];
        assert.deepEqual(events, ["größer 🎧\n\ntwo", "[DONE]"], `cut at ${cut}`);
      }
      const decoder = createEventDecoder();
      const dripped = [...stream].flatMap((byte) => decoder.push(Uint8Array.of(byte)));
      assert.deepEqual(dripped, ["größer 🎧\n\ntwo", "[DONE]"]);
    });
  }

  test("keeps an event without a blank line to itself", () => {
    assert.deepEqual(createEventDecoder().push(bytes("data: half\n")), []);
  });
});
