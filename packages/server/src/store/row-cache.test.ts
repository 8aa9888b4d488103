import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RowCaches } from "./row-cache.ts";

describe("rows in memory", () => {
  test("belong to one organization", () => {
    const caches = new RowCaches(100_000);
    caches.of("org_a").set("resources 1", { of: "a" }, 10);
    assert.deepEqual(caches.of("org_a").get("resources 1"), { of: "a" });
    assert.equal(caches.of("org_b").get("resources 1"), undefined);
  });

  test("are bounded in bytes; the least recently used are evicted", () => {
    const cache = new RowCaches(4000).of("org_a");
    for (const name of ["1", "2", "3"]) cache.set(name, { name }, 1000);
    assert.deepEqual(cache.get("1"), { name: "1" });
    cache.set("4", { name: "4" }, 1000);
    assert.deepEqual(
      ["1", "2", "3", "4"].map((name) => cache.get(name) !== undefined),
      [true, false, true, true],
    );
    cache.set("5", { name: "5" }, 5000);
    assert.equal(cache.get("5"), undefined, "larger than all that there is room for");
  });
});
