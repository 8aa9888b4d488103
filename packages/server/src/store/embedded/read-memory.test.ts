import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../../test/support/property-runs.ts";
import { ReadMemory, type ReadGrant } from "./read-memory.ts";

const megabyte = 1_048_576;
const memoryBytes = 1024 * megabyte;
const never = new AbortController().signal;

function memory(): ReadMemory {
  return new ReadMemory(memoryBytes);
}

/** Whether the promise is settled now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol();
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

describe("the memory of queries", () => {
  test("is never all held by one organization", async () => {
    const shared = memory();
    await shared.take("a", shared.mostBytes, never);
    const second = shared.take("a", shared.smallBytes, never);
    assert.equal(await isSettled(second), false);
    await shared.take("b", shared.shareOf("b"), never);
    assert.ok(shared.bytes <= memoryBytes * 0.625);
  });

  test("goes first to the organization that holds least", async () => {
    const shared = memory();
    const held = await shared.take("a", shared.mostBytes, never);
    await shared.take("b", shared.shareOf("b"), never);
    const order: string[] = [];
    const take = async (name: string): Promise<void> => {
      await shared.take(name, shared.smallBytes, never);
      order.push(name);
    };
    const waiting = ["b", "b", "c"].map(take);
    assert.deepEqual(order, []);
    held.release();
    await Promise.all(waiting);
    assert.equal(order[0], "c");
  });

  test("is free for others once a result is smaller than what its statement might have used", async () => {
    const shared = memory();
    const held = await shared.take("a", shared.mostBytes, never);
    const second = shared.take("a", shared.mostBytes / 2, never);
    assert.equal(await isSettled(second), false);
    held.shrink(megabyte);
    await second;
    assert.equal(shared.bytes, megabyte + shared.mostBytes / 2);
  });

  test("is not taken by a statement whose caller has left the queue", async () => {
    const shared = memory();
    const held = await shared.take("a", shared.mostBytes, never);
    const leaving = new AbortController();
    const left = shared.take("a", shared.mostBytes, leaving.signal);
    const next = shared.take("a", megabyte, never);
    leaving.abort();
    await assert.rejects(left);
    held.release();
    await next;
    assert.equal(shared.bytes, megabyte);
  });

  test("stays within its bounds, and everything is served, whatever the statements", async () => {
    const statements = fc.array(
      fc.record({
        organization: fc.constantFrom("a", "b", "c", "d"),
        size: fc.constantFrom("small", "share"),
        turns: fc.nat(4),
        leaves: fc.boolean(),
      }),
      { minLength: 1, maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(statements, async (all) => {
        const shared = memory();
        const run = async ({ organization, size, turns, leaves }: (typeof all)[number]): Promise<void> => {
          const leaving = new AbortController();
          const bytes = size === "small" ? shared.smallBytes : shared.shareOf(organization);
          const taken = shared.take(organization, bytes, leaving.signal);
          if (leaves) setImmediate(() => leaving.abort());
          let grant: ReadGrant;
          try {
            grant = await taken;
          } catch {
            return;
          }
          assert.ok(shared.bytes <= memoryBytes * 0.625, `${shared.bytes} bytes are held`);
          for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
          grant.shrink(megabyte);
          grant.release();
          grant.release();
        };
        await Promise.all(all.map(run));
        assert.equal(shared.bytes, 0);
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});
