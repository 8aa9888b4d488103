/** Queries that need much of the embedded store's memory, next to others that need little. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { bind, callerOrganization, sql } from "../../src/store/statement.ts";
import { countSpans, numberedSpans, openTestStore, scopeOf, spanBatch, type TestStore } from "./test-store.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const megabyte = 1_048_576;
/** Less than the default, so that statements reach the limits soon: 192 MiB for an organization, 32 MiB without waiting. */
const memoryBytes = 512 * megabyte;

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore({ settings: { embedded_memory_bytes: memoryBytes } }));
});

/** A statement that needs so many megabytes at once. */
async function use(organizationId: string, megabytes: number): Promise<void> {
  const statement = sql`SELECT length(repeat(repeat('x', 1000000), ${bind.uint64(megabytes)})) AS n, ${callerOrganization} AS own`;
  const rows = await opened.store.open(scopeOf(organizationId)).query(statement);
  assert.deepEqual(rows, [{ n: `${megabytes}000000`, own: organizationId }]);
}

const isTooLarge = (error: unknown): boolean => error instanceof AppError && error.code === "invalid_request";

describe("memory of the embedded store", () => {
  test("serves a statement that needs more than most do", async () => {
    await use("org_some", 100);
  });

  test("is refused to a statement that needs more than its organization's share", async () => {
    await assert.rejects(use("org_much", 300), isTooLarge);
  });

  test("serves statements of one organization one after the other when they need most of its share", async () => {
    await Promise.all(Array.from({ length: 8 }, () => use("org_many", 100)));
  });

  test("is left for others' statements and rows while one organization wants all of it", async () => {
    const stop = new AbortController();
    const outcomes = new Set<string>();
    const want = async (): Promise<void> => {
      while (!stop.signal.aborted)
        await use("org_greedy", 300).then(
          () => outcomes.add("served"),
          (error: AppError) => outcomes.add(error.code),
        );
    };
    const greed = Array.from({ length: 12 }, want);
    try {
      for (let round = 0; round < 6; round += 1) {
        await use("org_modest", 5);
        await opened.store.append(spanBatch("org_modest", numberedSpans(`round${round}`, 100)));
      }
      assert.equal((await countSpans(opened.store, "org_modest")).size, 600);
    } finally {
      stop.abort();
      await Promise.all(greed);
    }
    // Next to others, it may be told to try again.
    outcomes.delete("overloaded");
    assert.deepEqual([...outcomes], ["invalid_request"]);
  });
});
