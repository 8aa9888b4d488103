import assert from "node:assert/strict";
import { test } from "node:test";
import { IndexedSet } from "./indexed-set.ts";

test("an item is a member from its addition to its removal, in any order", () => {
  const set = new IndexedSet<{ setIndex: number; name: string }>();
  const [one, two, three] = ["one", "two", "three"].map((name) => ({ setIndex: -1, name })) as [never, never, never];
  const here = (): string[] => {
    const names: string[] = [];
    set.forEach(({ name }) => names.push(name));
    return names.toSorted();
  };
  for (const member of [one, two, three, two]) set.add(member);
  assert.deepEqual(here(), ["one", "three", "two"]);
  set.delete(one);
  set.delete(one);
  assert.deepEqual(here(), ["three", "two"]);
  set.add(one);
  set.delete(three);
  assert.deepEqual(here(), ["one", "two"]);
  set.delete(two);
  set.delete(one);
  assert.equal(set.size, 0);
});

test("items removed during an iteration are not visited any more", () => {
  const set = new IndexedSet<{ setIndex: number }>();
  const members = Array.from({ length: 5 }, () => ({ setIndex: -1 }));
  for (const member of members) set.add(member);
  let visits = 0;
  set.forEach(() => {
    visits++;
    for (const member of members) set.delete(member);
  });
  assert.equal(visits, 1);
});
