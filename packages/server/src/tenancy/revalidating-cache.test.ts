import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError } from "../errors.ts";
import { createRevalidatingCache } from "./revalidating-cache.ts";

/** A cache with a clock and a source that the test controls. */
function steered(options: { maximumEntries?: number; loadTimeoutMs?: number } = {}) {
  const state = { time: 1_000_000, loads: 0, load: async (input: string): Promise<string | undefined> => input };
  const cache = createRevalidatingCache<string, string>({
    load: (input) => {
      state.loads += 1;
      return state.load(input);
    },
    now: () => state.time,
    ...options,
  });
  return { state, cache };
}

const isOverloaded = (error: unknown) => error instanceof AppError && error.code === "overloaded";

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("a revalidating cache", () => {
  test("shares one load between concurrent misses", async () => {
    const { state, cache } = steered();
    assert.deepEqual(await Promise.all([cache.get("a", "x"), cache.get("a", "x"), cache.get("a", "x")]), [
      "x",
      "x",
      "x",
    ]);
    assert.equal(state.loads, 1);
    assert.equal(cache.get("a", "y"), "x");
  });

  test("does not cache the absence of a value", async () => {
    const { state, cache } = steered();
    state.load = async () => undefined;
    assert.equal(await cache.get("a", "x"), undefined);
    assert.equal(await cache.get("a", "x"), undefined);
    assert.equal(state.loads, 2);
  });

  test("serves a value of three seconds and reloads it once, and does not serve one of five seconds", async () => {
    const { state, cache } = steered();
    await cache.get("a", "old");
    state.time += 3000;
    for (let hit = 0; hit < 5; hit += 1) assert.equal(cache.get("a", "new"), "old");
    assert.equal(state.loads, 2);
    await settled();
    assert.equal(cache.get("a", "newer"), "new");
    state.time += 5000;
    const waited = cache.get("a", "newest");
    assert.ok(waited instanceof Promise);
    assert.equal(await waited, "newest");
  });

  test("serves stale values without waiting while the source fails, retries once a second, and stops after a minute", async () => {
    const { state, cache } = steered();
    await cache.get("a", "old");
    state.load = async () => {
      throw new Error("away");
    };
    state.time += 3000;
    assert.equal(cache.get("a", "new"), "old");
    await settled();
    for (let second = 3; second < 60; second += 1) {
      assert.equal(cache.get("a", "new"), "old", `at ${second} seconds`);
      assert.equal(cache.get("a", "new"), "old");
      await settled();
      assert.equal(state.loads, second - 1);
      state.time += 1000;
    }
    await assert.rejects(async () => cache.get("a", "new"), isOverloaded);
    await assert.rejects(async () => cache.get("b", "new"), isOverloaded);
    state.load = async (input) => input;
    assert.equal(await cache.get("a", "new"), "new");
  });

  test("does not wait for a source that hangs longer than its time limit", async () => {
    const { state, cache } = steered({ loadTimeoutMs: 20 });
    state.load = () => new Promise(() => {});
    await assert.rejects(async () => cache.get("a", "x"), isOverloaded);
  });

  test("restarts a load that was running when it was cleared", async () => {
    const { state, cache } = steered();
    const answers: ((value: string) => void)[] = [];
    state.load = () => new Promise((resolve) => answers.push(resolve));
    const asked = cache.get("a", "x");
    cache.clear();
    answers[0]!("from before");
    await settled();
    answers[1]!("from after");
    assert.equal(await asked, "from after");
    assert.equal(cache.get("a", "x"), "from after");
  });

  test("serves nothing from the cache after the clock was set back", async () => {
    const { state, cache } = steered();
    await cache.get("a", "old");
    state.time -= 60_000;
    assert.equal(await cache.get("a", "new"), "new");
  });

  test("holds a bounded number of values and of loads", async () => {
    const { state, cache } = steered({ maximumEntries: 2, loadTimeoutMs: 200 });
    for (const id of ["a", "b", "c"]) await cache.get(id, id);
    assert.equal(cache.get("c", "again"), "c");
    assert.equal(cache.get("b", "again"), "b");
    assert.ok(cache.get("a", "again") instanceof Promise);
    state.load = () => new Promise(() => {});
    const flood = Array.from({ length: 1100 }, async (_, index) => cache.get(`flood ${index}`, "x"));
    const refused = await Promise.race(flood).catch((error: unknown) => error);
    assert.ok(isOverloaded(refused));
    assert.ok(state.loads < 1100);
  });
});
