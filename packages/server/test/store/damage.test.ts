/** Damaged telemetry is reported: parts detached at the start, and parts that a query or a merge cannot read. */
import assert from "node:assert/strict";
import { readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { AppError } from "../../src/errors.ts";
import { createConnection } from "../../src/store/connection.ts";
import type { Store } from "../../src/store/store.ts";
import { countSpans, numberedSpans, openTestStore, spanBatch, temporaryDirectory, untilStored } from "./test-store.ts";

/** The data files of the parts of spans. */
async function dataFiles(directory: string): Promise<string[]> {
  const connection = createConnection({
    url: "http://localhost",
    socketPath: join(directory, "telemetry", "store.sock"),
    database: "default",
    compression: false,
    maximumConnections: 1,
  });
  try {
    const answer = await connection.command(
      "SELECT path FROM system.parts WHERE active AND table = 'spans' ORDER BY name FORMAT TSV",
      AbortSignal.timeout(60_000),
    );
    return answer
      .trim()
      .split("\n")
      .map((path) => join(path, "data.bin"));
  } finally {
    await connection.close();
  }
}

async function untilDamaged(store: Store): Promise<string> {
  for (;;) {
    const { damage } = store.state();
    if (damage !== undefined) return damage;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test("a damaged part fails its readers with a clear error and is reported", async () => {
  await using opened = await openTestStore();
  const { store, directory } = opened;
  await store.append(spanBatch("org_damaged", numberedSpans("a", 500)));
  await untilStored(store);
  const [file] = await dataFiles(directory);
  const bytes = await readFile(file!);
  await writeFile(file!, bytes.fill(0xff, bytes.length >> 2, bytes.length >> 1));
  assert.equal(store.state().damage, undefined);
  await assert.rejects(countSpans(store, "org_damaged"), (error: AppError) => {
    assert.equal(error.code, "internal");
    assert.match(error.message, /damaged on disk/);
    return true;
  });
  assert.match(await untilDamaged(store), /\d+ reads since the engine's start found damaged data/);
  assert.equal(store.state().ready, true);
});

test("a part that is detached at the start is reported, and the rest is served", async () => {
  const directory = await temporaryDirectory();
  try {
    {
      await using opened = await openTestStore({ directory });
      for (const name of ["a", "b"]) {
        await opened.store.append(spanBatch("org_aside", numberedSpans(name, 500)));
        await untilStored(opened.store);
      }
      const files = await dataFiles(directory);
      await opened.store.close();
      await truncate(files[0]!, 10);
    }
    await using opened = await openTestStore({ directory });
    assert.match(await untilDamaged(opened.store), /damaged parts were moved to detached/);
    assert.ok((await countSpans(opened.store, "org_aside")).size > 0);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
