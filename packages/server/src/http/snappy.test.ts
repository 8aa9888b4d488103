/** Snappy's block format: decompressed as another implementation compresses it, and never beyond the limit. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { compress } from "snappyjs";
import { AppError } from "../errors.ts";
import { MemoryBudget } from "../memory-budget.ts";
import { decompressSnappy } from "./snappy.ts";

const budget = new MemoryBudget(1_000_000);

async function decompressed(bytes: Uint8Array, limitBytes = 1_000_000): Promise<Buffer> {
  const charge = budget.open("org_a");
  try {
    return await decompressSnappy(Buffer.from(bytes), { limitBytes, charge });
  } finally {
    charge.release();
  }
}

describe("Snappy", () => {
  test("is decompressed to what was compressed", async () => {
    const words = fc.array(fc.constantFrom("level=info ", "a", "trace_id=", "\0", "é"), { maxLength: 500 });
    await fc.assert(
      fc.asyncProperty(words, async (parts) => {
        const text = Buffer.from(parts.join(""));
        assert.deepEqual(await decompressed(compress(text)), text);
      }),
    );
  });

  test("repeats a run that overlaps its source", async () => {
    const text = Buffer.from("ab".repeat(100_000));
    assert.deepEqual(await decompressed(compress(text)), text);
  });

  test("is refused before memory is taken if it would be larger than the limit", async () => {
    const charge = budget.open("org_a");
    const bomb = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0]);
    await assert.rejects(decompressSnappy(bomb, { limitBytes: 1000, charge }), { code: "payload_too_large" });
    assert.equal(budget.usedBytes, 0);
  });

  for (const [problem, bytes] of [
    ["its length is missing", [0x80]],
    ["it is truncated", [5, 4 << 2, 1, 2]],
    ["it ends before the length that it declares", [5, 0, 1]],
    ["it is longer than the length that it declares", [1, 1 << 2, 1, 2]],
    ["it refers to data before its beginning", [9, 0, 1, 1, 9]],
  ] as const) {
    test(`is refused if ${problem}`, async () => {
      await assert.rejects(decompressed(Uint8Array.from(bytes)), { message: new RegExp(problem) });
    });
  }

  test("never fails otherwise", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        await decompressed(bytes, 10_000).catch((error: unknown) => assert.ok(error instanceof AppError));
      }),
    );
  });
});
