import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { RowMemories } from "./row-memory.ts";

describe("rows in memory", () => {
  test("are an organization's own", () => {
    const memories = new RowMemories(100_000);
    memories.of("org_a").set("resources 1", { of: "a" }, 10);
    assert.deepEqual(memories.of("org_a").get("resources 1"), { of: "a" });
    assert.equal(memories.of("org_b").get("resources 1"), undefined);
  });

  test("are bounded in bytes; what was not asked for longest goes", () => {
    const memory = new RowMemories(4000).of("org_a");
    for (const name of ["1", "2", "3"]) memory.set(name, { name }, 1000);
    assert.deepEqual(memory.get("1"), { name: "1" });
    memory.set("4", { name: "4" }, 1000);
    assert.deepEqual(
      ["1", "2", "3", "4"].map((name) => memory.get(name) !== undefined),
      [true, false, true, true],
    );
    memory.set("5", { name: "5" }, 5000);
    assert.equal(memory.get("5"), undefined, "larger than all that there is room for");
  });
});
