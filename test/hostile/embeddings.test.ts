/** Requests for embeddings of a GGUF model that are as large as they may be, cannot fit, or are abandoned. */
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { contextLength, writeTinyBert } from "../../packages/server/test/llama-cpp/tiny-bert.ts";
import { beforeTests } from "../support/hooks.ts";
import { assertUnharmed, attack, startAttackedServer, type AttackedServer } from "./attack.ts";

let server: AttackedServer;
beforeTests(async (stack) => {
  server = stack.use(await startAttackedServer());
  const folder = join(server.dataDirectory, "models");
  await mkdir(folder, { recursive: true });
  await writeTinyBert(join(folder, "tiny-bert.gguf"));
  while ((await embed(server.placeholders["key"]!, "deep water")).status !== 200);
});

async function embed(key: string, input: unknown, signal?: AbortSignal) {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "tiny-bert", input }),
    ...(signal === undefined ? {} : { signal }),
  });
  const { data = [], error } = (await response.json()) as { data?: unknown[]; error?: { code: string } };
  return { status: response.status, vectors: data.length, code: error?.code };
}

const times = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const text = (words: number): string => times(words, "ship").join(" ");
const tooLong = { status: 400, vectors: 0, code: "context_length_exceeded" };
const bounds = { maximumPeakBytes: 300_000_000 };

describe("a request for embeddings", { timeout: 300_000 }, () => {
  for (const [name, input, answer] of [
    ["of as many texts as it may have", times(2_048, text(20)), { status: 200, vectors: 2_048, code: undefined }],
    ["of as many lists of tokens", times(2_048, times(20, 7)), { status: 200, vectors: 2_048, code: undefined }],
    ["of texts that just do not fit", times(2_048, text(contextLength - 1)), tooLong],
    ["of a text of ten megabytes", "x".repeat(10_000_000), tooLong],
    ["of ten megabytes without a token", " ".repeat(10_000_000), tooLong],
    ["of one word without an end", "ship".repeat(500), { status: 200, vectors: 1, code: undefined }],
    ["of forty thousand tokens", times(40_000, 7), tooLong],
  ] as const) {
    test(`${name} harms nobody`, async () => {
      const report = await attack(server, async () => {
        for (let round = 0; round < 2; round += 1)
          assert.deepEqual(await embed(server.placeholders["key"]!, input), answer);
      });
      assertUnharmed(report, bounds);
    });
  }

  test("that is abandoned again and again delays nobody", async () => {
    const report = await attack(server, async () => {
      for (let round = 0; round < 20; round += 1) {
        const leaving = new AbortController();
        const abandoned = times(8, 0).map(() =>
          embed(server.placeholders["key"]!, times(2_048, text(50)), leaving.signal).catch(() => undefined),
        );
        const other = await embed(server.neighborKey, "deep water");
        assert.equal(other.status, 200);
        leaving.abort();
        await Promise.all(abandoned);
      }
    });
    assertUnharmed(report, bounds);
    assert.equal((await embed(server.placeholders["key"]!, "deep water")).status, 200);
  });
});
