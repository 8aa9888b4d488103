import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSubjectCache } from "./subject.ts";

describe("the cache of keys", () => {
  test("has one entry per ID, under its newest name", () => {
    const subjects = createSubjectCache("key", 10);
    const first = subjects.get("a", "old", 0);
    assert.equal(subjects.get("a", "new", 5), first);
    assert.equal(first.name, "new");
  });

  test("evicts entries that are idle with full buckets, so that many keys do not fill memory", () => {
    const subjects = createSubjectCache("key", 1_000_000);
    for (let index = 0; index < 5_000; index++) subjects.get(`key-${index}`, "", index);
    assert.ok(subjects.size <= 4, `${subjects.size} are remembered`);
  });

  test("keeps entries while their buckets are not full and while calls are in flight", () => {
    const subjects = createSubjectCache("key", 1_000);
    const busy = subjects.get("busy", "", 0);
    busy.inFlight = 1;
    const tired = subjects.get("tired", "", 0);
    tired.replenishedAtMs = 60_000;
    for (let index = 0; index < 500; index++) subjects.get(`a${index}`, "", 59_999);
    assert.equal(subjects.get("tired", "", 59_999), tired);
    for (let index = 0; index < 500; index++) subjects.get(`b${index}`, "", 60_000);
    assert.notEqual(subjects.get("tired", "", 60_000), tired);
    assert.equal(subjects.get("busy", "", 60_000), busy);
  });

  test("evicts any entry without calls in flight when it is full", () => {
    const subjects = createSubjectCache("key", 100);
    const busy = subjects.get("busy", "", 0);
    busy.inFlight = 1;
    for (let index = 0; index < 1_000; index++) {
      subjects.get(`key-${index}`, "", 0).replenishedAtMs = Infinity;
      assert.ok(subjects.size <= 100);
    }
    assert.equal(subjects.get("busy", "", 0), busy);
  });
});
