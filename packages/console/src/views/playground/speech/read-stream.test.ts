/** Responses that arrive in pieces of any size. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readLines, readSamples } from "./read-stream.ts";

function responseOf(bytes: Uint8Array, size: number): Response {
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  return new Response(stream);
}

for (const size of [1, 2, 3, 1_000]) {
  describe(`a response in pieces of ${size} bytes`, () => {
    test("is read as lines", async () => {
      const values = [{ text: "größer 🎧\n" }, { data: "AAAA" }, {}];
      const lines = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
      assert.deepEqual(await Array.fromAsync(readLines(responseOf(lines, size))), values);
      assert.deepEqual(await Array.fromAsync(readLines(responseOf(lines.subarray(0, -1), size))), values);
    });

    test("is read as samples", async () => {
      const samples = Int16Array.of(1, -2, 32_767, -32_768, 258);
      const read = await Array.fromAsync(readSamples(responseOf(new Uint8Array(samples.buffer), size)));
      assert.deepEqual(
        read.flatMap((piece) => [...piece]),
        [...samples],
      );
    });
  });
}
